import { changeTag } from '@secrets/access';
import type { Caller } from '@secrets/caller';
import { invalid } from '@secrets/domain';
import type { DbContext } from '../db-context.ts';
import { deletePolicyRow } from '../queries/policies.ts';
import { revoking } from '../queries/tokens/revocations.ts';
import { builtInSource } from './built-in-source.ts';

/** Deletes a policy. Succeeds if it does not exist. Throws `invalid` for a built-in policy. */
export async function removePolicy({ db }: DbContext, caller: Caller, name: string): Promise<void> {
  if (builtInSource.has(name)) throw invalid(`the ${name} policy cannot be deleted`);
  const { id } = caller.namespace;
  await revoking(db, (tx) => deletePolicyRow(tx, id, name), [changeTag.policy(id, name)]);
}
