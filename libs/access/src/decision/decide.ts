import { type Operation, suffices } from '../paths/operation.ts';
import { needsOnlyToken, needsSudo } from '../paths/path-rules.ts';
import { seenPath } from '../paths/seen-path.ts';
import type { CompiledPolicies } from '../policies/matching/compile-policies.ts';
import type { Grant } from '../policies/rules/grant.ts';
import { type RequestFacts, refuse } from './refusal.ts';

/**
 * Returns what the rules of the sender's token grant to an operation. An object that has two names is matched by either.
 * @throws a problem (`forbidden`) unless they allow the operation
 */
export function decide(
  operation: Operation,
  { sender, place }: RequestFacts,
  rules: CompiledPolicies,
): Grant {
  const { namespace, path } = place;
  const seen = seenPath(path, { namespace, tokenNamespace: sender.tokenNamespace }) ?? refuse();
  const grant = operation === 'list' ? rules.onFolder(seen) : rules.on(seen);
  if (!suffices(grant.capabilities, operation) && !needsOnlyToken(operation, path)) refuse();
  if (needsSudo(operation, path) && !grant.capabilities.includes('sudo')) refuse();
  return grant;
}
