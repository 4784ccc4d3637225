import { Problem } from '@secrets/domain';
import { LRUCache } from 'lru-cache';

const maxGuesses = 10;
const windowMs = 60_000;
const maxPrincipals = 10_000;

/** A look-up for a principal that has not proven anything about the place that it names. */
interface Guess {
  /** The login succeeded, or an outage prevented it: it does not count. */
  forget(): void;
}

/**
 * Limits how often a principal makes this process look up a place that its token does not name. Without a limit, every
 * identity of the tenant could use up the provider's quota, and try names. Logins in progress count, too.
 */
export class LookupLimit {
  readonly #counts = new LRUCache<string, { guesses: number }>({ max: maxPrincipals, ttl: windowMs });

  /** Throws `rate_limited` if the principal has made 10 within a minute. */
  begin(mountId: string, oid: string): Guess {
    const key = `${mountId} ${oid}`;
    const count = this.#counts.get(key) ?? { guesses: 0 };
    if (count.guesses >= maxGuesses) throw tooMany(this.#counts.getRemainingTTL(key));
    if (count.guesses === 0) this.#counts.set(key, count);
    count.guesses += 1;
    return {
      forget: () => {
        count.guesses -= 1;
      },
    };
  }
}

const tooMany = (waitMs: number): Problem =>
  new Problem('rate_limited', 'too many logins of this principal were refused: its token names no resource', {
    retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)),
  });
