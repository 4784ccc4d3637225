import { type Capability, capabilities } from '@secrets/caller';
import { type Conditions, conditionsOf, mergedConditions } from './conditions.ts';
import { mergedEventTypes } from './event-types.ts';
import type { PathRule } from './policy-rules.ts';

/** The capabilities that policies grant on a path, and the conditions of their use. */
export interface Grant {
  /** In the order of `capabilities`; empty if nothing is granted or `deny` applies. */
  readonly capabilities: readonly Capability[];
  readonly isDenied: boolean;
  /** Undefined if requests may be of any form. */
  readonly conditions: Conditions | undefined;
  /** Patterns of event types that the capability `subscribe` is for; undefined without this capability. */
  readonly eventTypes: readonly string[] | undefined;
}

export const noGrant: Grant = {
  capabilities: [],
  isDenied: false,
  conditions: undefined,
  eventTypes: undefined,
};
const denial: Grant = { ...noGrant, isDenied: true };

export function grantOf(rule: PathRule): Grant {
  if (rule.capabilities.includes('deny')) return denial;
  return {
    capabilities: inOrder(rule.capabilities),
    isDenied: false,
    conditions: conditionsOf(rule),
    eventTypes: rule.subscribe_event_types,
  };
}

/** Merges the grants of two rules with the same pattern: `deny` overrides the other. */
export function mergedGrants(a: Grant, b: Grant): Grant {
  if (a.isDenied || b.isDenied) return denial;
  return {
    capabilities: inOrder([...a.capabilities, ...b.capabilities]),
    isDenied: false,
    conditions: mergedConditions(a.conditions, b.conditions),
    eventTypes: mergedEventTypes(a.eventTypes, b.eventTypes),
  };
}

/** The names of all capabilities of a grant, `subscribe` the last. */
export const capabilityNames = ({ capabilities, eventTypes }: Grant): readonly string[] =>
  eventTypes === undefined ? capabilities : [...capabilities, 'subscribe'];

const inOrder = (granted: readonly Capability[]): readonly Capability[] =>
  capabilities.filter((capability) => granted.includes(capability));
