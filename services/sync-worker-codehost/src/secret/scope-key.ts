import { parseResponse } from '@secrets/sync-worker';
import sodium from 'libsodium-wrappers';
import { PublicKey } from '../api/schema.ts';
import type { SealedValue, SecretScope } from '../api/secret-scope.ts';

/** The public key of a scope, for which values are sealed. It is kept until the provider refuses a value. */
export class ScopeKey {
  readonly #scope: SecretScope;
  #held: PublicKey | undefined;

  constructor(scope: SecretScope) {
    this.#scope = scope;
  }

  get isHeld(): boolean {
    return this.#held !== undefined;
  }

  async current(signal: AbortSignal): Promise<PublicKey> {
    return this.#held ?? this.#fetch(signal);
  }

  /** Returns the key that has replaced the refused one; undefined if none has. */
  async replacementFor(refused: PublicKey, signal: AbortSignal): Promise<PublicKey | undefined> {
    const key = await this.#fetch(signal);
    return key.key_id === refused.key_id ? undefined : key;
  }

  async #fetch(signal: AbortSignal): Promise<PublicKey> {
    const { data } = await this.#scope.getPublicKey(signal);
    this.#held = parseResponse('getPublicKey', PublicKey, data);
    return this.#held;
  }
}

/** Seals a value as the provider requires it: a libsodium sealed box in base64. */
export async function sealFor({ key, key_id }: PublicKey, value: string): Promise<SealedValue> {
  await sodium.ready;
  const sealed = sodium.crypto_box_seal(Buffer.from(value, 'utf8'), Buffer.from(key, 'base64'));
  return { encrypted_value: Buffer.from(sealed).toString('base64'), key_id };
}
