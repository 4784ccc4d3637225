import type { Caller } from '@secrets/caller';
import { pathNames, permissionDenied } from '@secrets/domain';
import { type Operation, suffices } from './paths/operation.ts';
import { needsOnlyToken, needsSudo } from './paths/path-rules.ts';
import { pathFromNamespace } from './paths/request-path.ts';
import type { CompiledPolicies } from './policies/compile-policies.ts';
import { type Conditions, conditionsFor } from './policies/conditions.ts';
import type { Grant } from './policies/grant.ts';
import type { AccessToken } from './tokens/access-token.ts';

/**
 * Refuses a request that the token's policies do not allow. Policies apply to an object by whichever of its names they or the request use.
 * Returns what they require of its form, because its body was not read yet.
 */
export function requireGrants(
  request: { operation: Operation; path: string },
  caller: Caller,
  token: AccessToken,
  rules: CompiledPolicies,
): Conditions | undefined {
  const { path, alternative } = pathNames(request.path);
  const seen = (name: string) => pathFromNamespace(token.namespace.path, caller.namespace.path, name);
  const other = alternative === undefined ? undefined : seen(alternative);
  const { capabilities, conditions } = grantOn(rules, request.operation, seen(path) ?? refuse(), other);
  caller.grants = [...capabilities];
  if (!suffices(caller.grants, request.operation) && !needsOnlyToken(request.operation, path)) refuse();
  if (needsSudo(request.operation, path) && !caller.grants.includes('sudo')) refuse();
  return conditionsFor(conditions, request.operation);
}

const grantOn = (
  rules: CompiledPolicies,
  operation: Operation,
  ...names: [path: string, alternative: string | undefined]
): Grant => (operation === 'list' ? rules.onFolder(...names) : rules.on(...names));

/** Says no more than that the request is refused. */
export function refuse(): never {
  throw permissionDenied();
}
