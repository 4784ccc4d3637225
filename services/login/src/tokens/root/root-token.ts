import { newAccessor, newToken, rowGuard, tokenHash, tokenKind } from '@secrets/access';
import type { Db } from '@secrets/db';
import { createSecretFile, type KeyRing, type Sealed, seal } from '@secrets/seal';
import { newTokenRow } from '../../queries/tokens/bound-row.ts';
import { insertRootToken, rootTokenWasCreated } from '../../queries/tokens/new-tokens.ts';
import { planLifetime } from '../token-lifetime.ts';

/**
 * Creates the root token on the first start: from the operator's file, or a new one that is written to that file,
 * readable only by its owner. The file is written first: after a crash before the insert, the next start takes the
 * token from the file. Later starts change nothing, even if the root token was revoked.
 * @throws an error that names the file, if it does not contain a usable token
 */
export async function ensureRootToken(
  db: Db,
  { file, rowKeys }: { file: string; rowKeys?: KeyRing | undefined },
): Promise<{ created: boolean }> {
  if (await rootTokenWasCreated(db)) return { created: false };
  const token = openRootToken(file);
  const root = {
    hash: tokenHash(token.reveal()),
    accessor: newAccessor(),
    parentAccessor: null,
    namespaceId: 'root',
    displayName: 'root',
    creationPath: 'auth/token/root',
    policies: ['root'],
    metadata: {},
    entityId: null,
    boundCidrs: [],
    renewable: false,
    lifetime: planLifetime({}, new Date(db.now()), { forever: true }),
    uses: null,
  };
  const rowHash = rowGuard(rowKeys).hashOf(newTokenRow(root));
  const created = await insertRootToken(db, { ...root, rowHash });
  return { created };
}

/** Reads the token from the file. Creates the file with a new token if it does not exist. */
function openRootToken(file: string): Sealed<string> {
  const text = createSecretFile(file, () => `${newToken().reveal()}\n`).trim();
  if (tokenKind(text) !== 'service')
    throw new Error(`${file} must contain a root token: 20 to 256 printable ASCII characters without spaces`);
  return seal(text);
}
