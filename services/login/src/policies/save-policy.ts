import { changeTag, contentRow, rowGuard } from '@secrets/access';
import { type Caller, requireGrant } from '@secrets/caller';
import { type Db, isForeignKeyViolation, type Tx } from '@secrets/db';
import { invalid, notFound } from '@secrets/domain';
import type { KeyRing } from '@secrets/seal';
import { findPolicySource, upsertPolicy } from '../queries/policies.ts';
import { rootTokenWasCreated } from '../queries/tokens/new-tokens.ts';
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
  if (name === 'root') throw invalid('the root policy cannot be changed');
  const namespaceId = caller.namespace.id;
  const exists = name === 'default' || (await findPolicySource(db, namespaceId, name)) !== undefined;
  requireGrant(caller, exists);
  await storePolicy({ db, rows }, namespaceId, name, given);
}

/** Stores a policy, whoever asks for it. Throws as `savePolicy`. */
async function storePolicy(
  { db, rows }: Pick<TokenContext, 'db' | 'rows'>,
  namespaceId: string,
  name: string,
  given: string,
): Promise<void> {
  const source = policyText(given);
  const rules = parsePolicy(source);
  const rowHash = rows.hashOf(contentRow('login.policies', [namespaceId, name], rules));
  const save = (tx: Tx) => upsertPolicy(tx, namespaceId, name, { source, rules, rowHash });
  await revoking(db, save, [changeTag.policy(namespaceId, name)]).catch((error: unknown) => {
    throw isForeignKeyViolation(error) ? notFound() : error;
  });
}

/** Writes policies of the root namespace at the first start of an installation, before it has a root token. */
export async function writeFirstPolicies(
  db: Db,
  policies: ReadonlyMap<string, string>,
  rowKeys?: KeyRing,
): Promise<void> {
  if (await rootTokenWasCreated(db)) return;
  const rows = rowGuard(rowKeys);
  for (const [name, source] of policies) await storePolicy({ db, rows }, 'root', name, source);
}
