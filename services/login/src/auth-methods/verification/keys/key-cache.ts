import { Problem } from '@secrets/domain';
import { createRemoteJWKSet, customFetch, type JWTVerifyGetKey } from 'jose';

type KeySet = ReturnType<typeof createRemoteJWKSet>;

const unknownKeyCoolDownMs = 30_000;
const failureCoolDownMs = 1_000;
const refreshAfterMs = 10 * 60_000;
/** Keys that the directory has not confirmed for this long are no longer trusted. */
const maxStaleMs = 24 * 3_600_000;

/** A directory that publishes a key set. Both functions throw `unavailable` or `bad_gateway` if they fail. */
export interface KeySource {
  /** Finds out where the key set is. */
  locate(): Promise<URL>;
  /** Fetches the key set. Its status is 200. */
  fetch(url: string): Promise<Response>;
}

/**
 * The signing keys of one directory. At most one fetch runs at a time. An unknown key ID causes at most two fetches a minute;
 * after a failure, the next fetch starts a second later at the earliest. Keys are refreshed in the background, so that
 * the old ones can be used for up to a day while the directory is down.
 */
export class KeyCache {
  readonly #source: KeySource;
  readonly #clock: () => number;
  #keySet: KeySet | undefined;
  #location = '';
  #fetching: Promise<KeySet> | undefined;
  #confirmedAt = Number.NEGATIVE_INFINITY;
  #failedAt = Number.NEGATIVE_INFINITY;

  /** @param clock in milliseconds */
  constructor(source: KeySource, clock: () => number = () => performance.now()) {
    this.#source = source;
    this.#clock = clock;
  }

  /** Finds the key that a token's header names, for `jwtVerify`. Throws `unavailable` if the directory is needed and down. */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    const keySet = await this.#usableKeySet();
    return keySet(header, token);
  };

  async #usableKeySet(): Promise<KeySet> {
    const age = this.#clock() - this.#confirmedAt;
    if (this.#keySet === undefined || age > maxStaleMs) return this.#fetch();
    if (age > refreshAfterMs) this.#fetch().catch(() => undefined); // the old keys are used meanwhile
    return this.#keySet;
  }

  #fetch(): Promise<KeySet> {
    this.#fetching ??= this.#renew().finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  async #renew(): Promise<KeySet> {
    const location = await this.#recordingFailure(() => this.#source.locate());
    const keySet = location.href === this.#location && this.#keySet ? this.#keySet : this.#keySetAt(location);
    await keySet.reload();
    this.#keySet = keySet;
    this.#location = location.href;
    this.#confirmedAt = this.#clock();
    return keySet;
  }

  #keySetAt(location: URL): KeySet {
    return createRemoteJWKSet(location, {
      cacheMaxAge: Number.POSITIVE_INFINITY, // this class decides: old keys survive a failed refresh
      cooldownDuration: unknownKeyCoolDownMs,
      [customFetch]: (url: string) => this.#recordingFailure(() => this.#source.fetch(url)),
    });
  }

  async #recordingFailure<T>(work: () => Promise<T>): Promise<T> {
    if (this.#clock() - this.#failedAt < failureCoolDownMs)
      throw new Problem('unavailable', 'the directory did not respond a moment ago', {
        retryAfterSeconds: 1,
      });
    try {
      return await work();
    } catch (error) {
      this.#failedAt = this.#clock();
      throw error;
    }
  }
}
