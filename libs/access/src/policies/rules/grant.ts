import { type Capability, capabilities } from '@secrets/caller';
import { type Conditions, conditionsOf, mergedConditions } from './conditions.ts';
import type { PathRule } from './policy-rules.ts';

/** The capabilities that policies grant on a path, and the conditions of their use. */
export interface Grant {
  /** In the order of `capabilities`; empty if nothing is granted or `deny` applies. */
  readonly capabilities: readonly Capability[];
  readonly isDenied: boolean;
  /** Undefined if requests may be of any form. */
  readonly conditions: Conditions | undefined;
}

export const noGrant: Grant = { capabilities: [], isDenied: false, conditions: undefined };
const denial: Grant = { ...noGrant, isDenied: true };

export function grantOf(rule: PathRule): Grant {
  if (rule.capabilities.includes('deny')) return denial;
  return { capabilities: inOrder(rule.capabilities), isDenied: false, conditions: conditionsOf(rule) };
}

/** Merges the grants of two rules with the same pattern: `deny` overrides the other. */
export function mergedGrants(a: Grant, b: Grant): Grant {
  if (a.isDenied || b.isDenied) return denial;
  return {
    capabilities: inOrder([...a.capabilities, ...b.capabilities]),
    isDenied: false,
    conditions: mergedConditions(a.conditions, b.conditions),
  };
}

const inOrder = (granted: readonly Capability[]): readonly Capability[] =>
  capabilities.filter((capability) => granted.includes(capability));
