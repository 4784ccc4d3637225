import type { Caller } from '@secrets/caller';
import { seenPath } from '../../paths/seen-path.ts';
import type { CompiledPolicies } from '../matching/compile-policies.ts';
import { meetsConditions } from '../rules/conditions.ts';

/** A read without parameters, whose response is not wrapped. */
const plainRead = { parameters: { path: '', body: {}, query: [], isRead: true }, wrapSeconds: undefined };

/**
 * Whether policies permit a plain `GET` of a path in the namespace of the request, by either of its names. Conditions
 * that such a request does not fulfil, as a wrapping TTL or a required parameter, forbid it. The path is decoded,
 * without leading and trailing slashes.
 */
export function permitsPlainRead(
  policies: CompiledPolicies,
  caller: Pick<Caller, 'tokenNamespace' | 'namespace'>,
  path: string,
): boolean {
  const seen = seenPath(path, caller);
  if (seen === undefined) return false;
  const { capabilities, conditions } = policies.on(seen);
  return (
    capabilities.includes('read') && (conditions === undefined || meetsConditions(conditions, plainRead))
  );
}
