import { CodehostError } from '../codehost-error.ts';

/** The limits of one token (https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api). */
export interface RateLimitOptions {
  /** Requests per hour. Default 5,000. */
  perHour?: number;
  /** Points per minute: a read costs 1, a write 5. The real service permits 900. Default: not limited. */
  pointsPerMinute?: number;
  /** How many writes may be in progress at the same time. Default: not limited. */
  concurrentWrites?: number;
}

interface Usage {
  hour: number;
  used: number;
  minute: number;
  points: number;
  writing: number;
}

const hourMs = 3_600_000;
const minuteMs = 60_000;
const secondary = 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.';

/** Counts the calls of each token. */
export class RateLimits {
  readonly #limits: Required<RateLimitOptions>;
  readonly #now: () => number;
  readonly #usages = new Map<string, Usage>();

  constructor(
    { perHour = 5_000, pointsPerMinute = Infinity, concurrentWrites = Infinity }: RateLimitOptions,
    now: () => number,
  ) {
    this.#limits = { perHour, pointsPerMinute, concurrentWrites };
    this.#now = now;
  }

  /** Counts a write that has arrived. Returns what to call when it has been responded to. */
  begin(token: string, method: string): () => void {
    if (method === 'GET') return () => undefined;
    const usage = this.#usage(token);
    usage.writing += 1;
    return () => {
      usage.writing -= 1;
    };
  }

  /** @throws CodehostError 403, if the token has exceeded a limit */
  take(token: string, method: string): void {
    const usage = this.#usage(token);
    usage.points += method === 'GET' ? 1 : 5;
    const isTooMuch =
      usage.points > this.#limits.pointsPerMinute || usage.writing > this.#limits.concurrentWrites;
    if (isTooMuch) throw new CodehostError(403, secondary, { 'retry-after': '60' });
    if (usage.used >= this.#limits.perHour) throw new CodehostError(403, 'API rate limit exceeded.');
    usage.used += 1;
  }

  /** A call that is not counted. */
  giveBack(token: string): void {
    this.#usage(token).used -= 1;
  }

  /** The headers of every response to this token. */
  headers(token: string): Record<string, string> {
    const { hour, used } = this.#usage(token);
    return {
      'x-ratelimit-limit': String(this.#limits.perHour),
      'x-ratelimit-remaining': String(this.#limits.perHour - used),
      'x-ratelimit-used': String(used),
      'x-ratelimit-reset': String(((hour + 1) * hourMs) / 1000),
      'x-ratelimit-resource': 'core',
    };
  }

  clear(): void {
    this.#usages.clear();
  }

  #usage(token: string): Usage {
    const [hour, minute] = [Math.floor(this.#now() / hourMs), Math.floor(this.#now() / minuteMs)];
    const usage = this.#usages.get(token) ?? { hour, used: 0, minute, points: 0, writing: 0 };
    if (usage.hour !== hour) Object.assign(usage, { hour, used: 0 });
    if (usage.minute !== minute) Object.assign(usage, { minute, points: 0 });
    this.#usages.set(token, usage);
    return usage;
  }
}

export { secondary as secondaryLimitMessage };
