import { changeTag, contentRow } from '@secrets/access';
import { type Caller, requireGrant } from '@secrets/caller';
import { isForeignKeyViolation, type Tx } from '@secrets/db';
import { invalid, notFound } from '@secrets/domain';
import { findPolicySource, upsertPolicy } from '../queries/policies.ts';
import { revoking } from '../queries/tokens/revocations.ts';
import type { TokenContext } from '../tokens/issue-token.ts';
import { parsePolicy } from './parse-policy.ts';
import { policyText } from './policy-text.ts';

/**
 * Creates or replaces a policy (docs/conventions/access.md#policies). Throws `invalid` for the root policy and if the source
 * is not a policy, `not_found` if the namespace was deleted in the meantime.
 */
export async function savePolicy(
  { db, rows }: Pick<TokenContext, 'db' | 'rows'>,
  caller: Caller,
  name: string,
  given: string,
): Promise<void> {
  const source = policyText(given);
  if (name === 'root') throw invalid('the root policy cannot be changed');
  const namespaceId = caller.namespace.id;
  const exists = name === 'default' || (await findPolicySource(db, namespaceId, name)) !== undefined;
  requireGrant(caller, exists);
  const rules = parsePolicy(source);
  const rowHash = rows.hashOf(contentRow('login.policies', namespaceId, name, rules));
  const save = (tx: Tx) => upsertPolicy(tx, namespaceId, name, { source, rules, rowHash });
  await revoking(db, save, [changeTag.policy(namespaceId, name)]).catch((error: unknown) => {
    throw isForeignKeyViolation(error) ? notFound() : error;
  });
}
