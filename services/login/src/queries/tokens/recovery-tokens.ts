import { changeTag } from '@secrets/access';
import type { Tx } from '@secrets/db';
import { insertToken, type NewToken } from './new-tokens.ts';
import { endToken, recordChange } from './revocations.ts';

/** Stores a recovery token, and revokes the one before it. Throws if no root token was ever created. */
export async function replaceRecoveryToken(tx: Tx, token: NewToken): Promise<void> {
  const [root] = await tx.query<{ former: string | null }>(
    'select recovery_accessor as former from login.root_token for update',
  );
  if (root === undefined)
    throw new Error('this database has no root token yet, which the first start creates: start the service');
  if (root.former !== null) await endToken(tx, root.former);
  await insertToken(tx, token);
  await tx.query('update login.root_token set recovery_accessor = $1', [token.accessor]);
  if (root.former !== null) await recordChange(tx, [changeTag.token(root.former)]);
}
