import { createHash } from 'node:crypto';

/** The key pair of a scope: a function of the seed, so that it survives a restart. */
export interface BoxKey {
  keyId: string;
  /** Base64. */
  publicKey: string;
  /** Returns the text in a sealed box; undefined if it was not sealed for this key. */
  open(sealedBase64: string): string | undefined;
}

/** Returns the key pair of a scope, a different one for each generation. */
export async function boxKeyOf(seed: string, scope: string, generation: number): Promise<BoxKey> {
  const { default: sodium } = await import('libsodium-wrappers'); // large, and needed by one store only
  await sodium.ready;
  const digest = createHash('sha256').update(`box key ${seed} ${scope} ${generation}`).digest();
  const { publicKey, privateKey } = sodium.crypto_box_seed_keypair(digest);
  return {
    keyId: createHash('sha256').update(publicKey).digest().readBigUInt64BE().toString(),
    publicKey: Buffer.from(publicKey).toString('base64'),
    open(sealedBase64) {
      try {
        const opened = sodium.crypto_box_seal_open(
          Buffer.from(sealedBase64, 'base64'),
          publicKey,
          privateKey,
        );
        return Buffer.from(opened).toString('utf8');
      } catch {
        return undefined;
      }
    },
  };
}
