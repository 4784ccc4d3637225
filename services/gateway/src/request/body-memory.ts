import { Problem } from '@secrets/domain';

/** Who sent a body. */
export interface BodyHolder {
  /** The token, or the address of a request without one. */
  key: string;
  /** Whether the request needs no token. */
  isPublic: boolean;
}

/** The bytes of one body. */
export interface HeldBody {
  /** Counts bytes that were received. Throws a problem (`rate_limited`) if there is no room for them. */
  add(bytes: number): void;
  /** Frees them all. Can be called more than once. */
  release(): void;
}

/**
 * Limits the memory that bodies take from their arrival until the response was sent. Requests without a token have a
 * quarter of it, one address an eighth and one token a quarter, so that none of them keeps out the others.
 */
export class BodyMemory {
  readonly #totalBytes: number;
  readonly #observe: (heldBytes: number) => void;
  readonly #byHolder = new Map<string, number>();
  #held = 0;
  #heldByPublic = 0;

  /** @param observe is called with the bytes that are held whenever these change */
  constructor(totalBytes: number, observe: (heldBytes: number) => void) {
    this.#totalBytes = totalBytes;
    this.#observe = observe;
  }

  hold(holder: BodyHolder): HeldBody {
    let own = 0;
    return {
      add: (bytes) => {
        this.#requireRoom(holder, bytes);
        own += bytes;
        this.#change(holder, bytes);
      },
      release: () => {
        this.#change(holder, -own);
        own = 0;
      },
    };
  }

  #requireRoom({ key, isPublic }: BodyHolder, bytes: number): void {
    const total = this.#totalBytes;
    if ((this.#byHolder.get(key) ?? 0) + bytes > total / (isPublic ? 8 : 4)) throw full('of this client');
    if (isPublic && this.#heldByPublic + bytes > total / 4) throw full('without a token');
    if (this.#held + bytes > total) throw full('');
  }

  #change({ key, isPublic }: BodyHolder, bytes: number): void {
    if (bytes === 0) return;
    this.#held += bytes;
    this.#observe(this.#held);
    if (isPublic) this.#heldByPublic += bytes;
    const own = (this.#byHolder.get(key) ?? 0) + bytes;
    if (own > 0) this.#byHolder.set(key, own);
    else this.#byHolder.delete(key);
  }
}

const full = (whose: string) =>
  new Problem('rate_limited', ['too many request bodies', whose, 'at once'].filter(Boolean).join(' '), {
    retryAfterSeconds: 1,
  });
