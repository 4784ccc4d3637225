import { randomUUID } from 'node:crypto';
import { decrypt, encrypt, type KeyRing } from '@secrets/seal';
import { type CryptoKey, exportJWK, exportPKCS8, generateKeyPair, importPKCS8 } from 'jose';
import type { IdentityKeyRow } from '../queries/identity-keys.ts';

/** The only algorithm that all of the providers accept. */
export const algorithm = 'RS256';

/** Generates a key pair, whose private part is sealed for its row. */
export async function newSigningKey(keyRing: KeyRing): Promise<IdentityKeyRow> {
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true });
  const id = randomUUID();
  const { kty, n, e } = await exportJWK(publicKey);
  const sealedPrivateKey = encrypt(keyRing, signingKeyAad(id), Buffer.from(await exportPKCS8(privateKey)));
  return {
    id,
    publicJwk: { kty, use: 'sig', alg: algorithm, kid: id, n, e } as IdentityKeyRow['publicJwk'],
    sealedPrivateKey,
  };
}

/** Opens a private key. Throws `SealError` if it belongs to another row. */
export const openSigningKey = (
  keyRing: KeyRing,
  { id, sealedPrivateKey }: Pick<IdentityKeyRow, 'id' | 'sealedPrivateKey'>,
): Promise<CryptoKey> =>
  importPKCS8(decrypt(keyRing, signingKeyAad(id), sealedPrivateKey).toString('utf8'), algorithm);

/** Additional authenticated data: ties a sealed private key to its row. */
export const signingKeyAad = (id: string): string => `login.identity_keys ${id} private_key`;
