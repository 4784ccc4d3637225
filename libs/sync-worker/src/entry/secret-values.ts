import { versionAad } from '@secrets/domain';
import { decrypt, type KeyRing, type Sealed, seal } from '@secrets/seal';
import type { StoredValue } from '@secrets/sync-entries';
import { LRUCache } from 'lru-cache';
import { SecretText } from './secret-text.ts';

/** A version of a secret. It is decrypted when it is first needed, and only once. */
export class SecretValue {
  readonly versionId: string;
  readonly #open: () => Sealed<SecretText>;
  #text: Sealed<SecretText> | undefined;

  constructor(versionId: string, open: () => Sealed<SecretText>) {
    this.versionId = versionId;
    this.#open = open;
  }

  /** Throws if it cannot be decrypted: unknown is not absent. */
  text(): Sealed<SecretText> {
    this.#text ??= this.#open();
    return this.#text;
  }
}

const maxValues = 16;
const maxAgeMs = 5_000;

/**
 * The secret values of a worker. A value of which single keys are pushed is kept for up to five seconds, in memory only:
 * the other keys of that version are pushed at about the same time, and each would read, decrypt and parse all of them.
 */
export class SecretValues {
  readonly #keyRing: KeyRing;
  readonly #kept = new LRUCache<string, SecretValue>({
    max: maxValues,
    ttl: maxAgeMs,
    ttlAutopurge: true,
    noUpdateTTL: true,
  });

  constructor(keyRing: KeyRing) {
    this.#keyRing = keyRing;
  }

  /** For one read of the database: the versions that need not be read, and what turns a version that was read into a value. */
  reading(): { knownVersionIds: readonly string[]; toValue(stored: StoredValue): SecretValue } {
    const values = new Map(this.#kept.entries());
    return {
      knownVersionIds: [...values.keys()],
      toValue: (stored) => {
        const { versionId } = stored.location;
        const value = values.get(versionId) ?? new SecretValue(versionId, () => this.#decrypt(stored));
        values.set(versionId, value);
        return value;
      },
    };
  }

  /** Returns what an external secret contains; undefined if the key is missing. Throws if the value cannot be decrypted. */
  pushedValue(value: SecretValue, subKey: string): string | undefined {
    const text = value.text().reveal();
    if (subKey !== '') this.#kept.set(value.versionId, value);
    return text.pushedValue(subKey);
  }

  close(): void {
    this.#kept.clear();
  }

  #decrypt({ location, sealed }: StoredValue): Sealed<SecretText> {
    if (sealed === null) throw new Error('the sealed value of a version was not read');
    return seal(new SecretText(decrypt(this.#keyRing, versionAad(location), sealed).toString('utf8')));
  }
}
