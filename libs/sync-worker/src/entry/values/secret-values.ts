import { Fault, versionAad } from '@secrets/domain';
import { decrypt, type KeyRing, type Sealed, seal } from '@secrets/seal';
import type { StoredValue } from '@secrets/sync-entries';
import { LRUCache } from 'lru-cache';
import { ValueMemory } from '../../limits/value-memory.ts';
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
const mebibyte = 1_048_576;

/** A large value and the number of attempts that use it. */
interface LargeValue {
  value: Promise<SecretValue>;
  users: number;
  free(): void;
}

/**
 * The secret values of a worker. Large values are read one by one, once for all attempts that need them at the same time, and
 * only while their total size is within a limit. A value of which single keys are pushed is kept for up to five seconds, in
 * memory only: the other keys of that version are pushed at about the same time, and each would read, decrypt and parse all of
 * them.
 */
export class SecretValues {
  readonly #keyRing: KeyRing;
  readonly #kept = new LRUCache<string, SecretValue>({
    max: maxValues,
    ttl: maxAgeMs,
    ttlAutopurge: true,
    noUpdateTTL: true,
  });
  readonly #memory: ValueMemory;
  readonly #large = new Map<string, LargeValue>();

  /** `largeValuesMib` is the total size of the large values that may be in use at once, in MiB. */
  constructor(keyRing: KeyRing, largeValuesMib: number) {
    this.#keyRing = keyRing;
    this.#memory = new ValueMemory(largeValuesMib * mebibyte);
  }

  /**
   * Prepares one read of the database: returns the versions that need not be read, and a function that turns a stored version
   * into a value. It returns a version that was too large to be read unchanged, for `shareLarge`.
   */
  reading(): { knownVersionIds: readonly string[]; toValue(stored: StoredValue): SecretValue | StoredValue } {
    const values = new Map(this.#kept.entries());
    return {
      knownVersionIds: [...values.keys()],
      toValue: (stored) => {
        const { versionId } = stored.location;
        if (stored.sealed === null && !values.has(versionId)) return stored;
        const value = values.get(versionId) ?? new SecretValue(versionId, () => this.#decrypt(stored));
        values.set(versionId, value);
        return value;
      },
    };
  }

  /**
   * Reads a large value as soon as there is memory for it, unless another attempt is using it. Its memory is in use until every
   * attempt that shares it has called `release`. Throws `not_ready` if the version is no longer the newest one.
   */
  async shareLarge(
    stored: StoredValue,
    readSealed: () => Promise<Uint8Array | undefined>,
  ): Promise<{ value: SecretValue; release(): void }> {
    const large = this.#large.get(stored.location.versionId) ?? this.#addLarge(stored, readSealed);
    large.users += 1;
    let isReleased = false;
    const release = () => {
      if (!isReleased) large.users -= 1;
      if (!isReleased && large.users === 0) large.free();
      isReleased = true;
    };
    try {
      return { value: await large.value, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Returns what an external secret contains; undefined if the key is missing. Throws if the value cannot be decrypted. */
  pushedValue(value: SecretValue, subKey: string): string | undefined {
    const text = value.text().reveal();
    if (subKey !== '') this.#kept.set(value.versionId, value);
    return text.pushedValue(subKey);
  }

  /** Returns a text that is equal for equal values (`SecretText.comparedValue`). */
  comparedValue(value: SecretValue, subKey: string): string | undefined {
    return value.text().reveal().comparedValue(subKey);
  }

  close(): void {
    this.#kept.clear();
  }

  #addLarge(stored: StoredValue, readSealed: () => Promise<Uint8Array | undefined>): LargeValue {
    const { versionId } = stored.location;
    const memory = this.#memory.acquire(stored.bytes);
    const read = async () => {
      await memory;
      const sealed = await readSealed();
      if (sealed === undefined) throw new Fault('not_ready', 'the secret was changed while it was read');
      return new SecretValue(versionId, () => this.#decrypt({ ...stored, sealed }));
    };
    const free = () => {
      this.#large.delete(versionId);
      void memory.then((release) => release());
    };
    const large: LargeValue = { value: read(), users: 0, free };
    this.#large.set(versionId, large);
    return large;
  }

  #decrypt({ location, sealed }: StoredValue): Sealed<SecretText> {
    if (sealed === null) throw new Error('the sealed value of a version was not read');
    return seal(new SecretText(decrypt(this.#keyRing, versionAad(location), sealed).toString('utf8')));
  }
}
