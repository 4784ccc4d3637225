import { newAccessor, newToken, rowGuard, tokenHash } from '@secrets/access';
import type { Tx } from '@secrets/db';
import type { KeyRing, Sealed } from '@secrets/seal';
import { newTokenRow } from '../../queries/tokens/bound-row.ts';
import { replaceRecoveryToken } from '../../queries/tokens/recovery-tokens.ts';
import { planLifetime } from '../token-lifetime.ts';

/** A root token that ends soon, for an operator who has no other way in. */
export interface RecoveryToken {
  text: Sealed<string>;
  accessor: string;
  expiresAt: Date;
}

const lifetimeSeconds = 3_600;

/**
 * Creates a recovery token, and revokes the one before it with every token that was created with it. Requires that the root token
 * was created before: otherwise, the first start is all that is missing.
 */
export async function createRecoveryToken(tx: Tx, now: Date, rowKeys: KeyRing): Promise<RecoveryToken> {
  const text = newToken();
  const request = { ttlSeconds: lifetimeSeconds, explicitMaxTtlSeconds: lifetimeSeconds };
  const token = {
    hash: tokenHash(text.reveal()),
    accessor: newAccessor(),
    parentAccessor: null,
    namespaceId: 'root',
    displayName: 'recovery',
    creationPath: 'auth/token/recovery',
    policies: ['root'],
    metadata: { recovered_at: now.toISOString() },
    entityId: null,
    boundCidrs: [],
    renewable: false,
    lifetime: planLifetime(request, now),
    uses: null,
  };
  const rowHash = rowGuard(rowKeys).hashOf(newTokenRow(token));
  await replaceRecoveryToken(tx, { ...token, rowHash });
  return { text, accessor: token.accessor, expiresAt: token.lifetime.expiresAt! };
}
