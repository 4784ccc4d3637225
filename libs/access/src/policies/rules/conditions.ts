import type { Operation } from '../../paths/operation.ts';
import {
  mergedParameterRules,
  type ParameterRules,
  parameterRulesOf,
  permits,
  type RequestParameters,
} from './parameter-rules.ts';
import type { PathRule } from './policy-rules.ts';

/** Conditions that a request must meet in addition to having the capability. */
export interface Conditions {
  readonly parameters: ParameterRules | undefined;
  /** How long its response must be wrapped, in seconds; 0 for no limit. With either limit, it must be wrapped. */
  readonly minWrapSeconds: number;
  readonly maxWrapSeconds: number;
}

/** The conditions of one rule; undefined if it has none. */
export function conditionsOf(rule: PathRule): Conditions | undefined {
  const parameters = parameterRulesOf(rule);
  const { min_wrapping_ttl: minWrapSeconds = 0, max_wrapping_ttl: maxWrapSeconds = 0 } = rule;
  if (parameters === undefined && minWrapSeconds === 0 && maxWrapSeconds === 0) return undefined;
  return { parameters, minWrapSeconds, maxWrapSeconds };
}

/** The conditions of two rules with the same pattern. A rule without conditions lifts none of the other. */
export function mergedConditions(
  a: Conditions | undefined,
  b: Conditions | undefined,
): Conditions | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return {
    parameters: mergedParameterRules(a.parameters, b.parameters),
    minWrapSeconds: lower(a.minWrapSeconds, b.minWrapSeconds),
    maxWrapSeconds: lower(a.maxWrapSeconds, b.maxWrapSeconds),
  };
}

const lower = (a: number, b: number): number => (a === 0 || b === 0 ? a || b : Math.min(a, b));

/** Returns the conditions on an operation. Rules on parameters do not apply to lists and deletions. */
export function conditionsFor(
  conditions: Conditions | undefined,
  operation: Operation,
): Conditions | undefined {
  const isRestricted = operation !== 'list' && operation !== 'delete';
  return conditions === undefined || isRestricted ? conditions : { ...conditions, parameters: undefined };
}

/** Whether a request fulfils the conditions. */
export function meetsConditions(
  { parameters, minWrapSeconds, maxWrapSeconds }: Conditions,
  request: { parameters: RequestParameters; wrapSeconds: number | undefined },
): boolean {
  const { wrapSeconds = 0 } = request;
  if (minWrapSeconds > 0 && wrapSeconds < minWrapSeconds) return false;
  if (maxWrapSeconds > 0 && (wrapSeconds === 0 || wrapSeconds > maxWrapSeconds)) return false;
  return parameters === undefined || permits(parameters, request.parameters);
}
