/** Why a request failed. Domain code uses these kinds; only `libs/http` maps them to status codes. */
export type ProblemKind =
  | 'invalid'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'conflict'
  | 'timeout'
  | 'too_large'
  | 'unsupported_media_type'
  | 'queue_full'
  | 'rate_limited'
  | 'bad_gateway'
  | 'unavailable';

export interface ProblemOptions {
  /** Seconds after which a retry may succeed; becomes `Retry-After`. */
  retryAfterSeconds?: number;
  /** The supported methods; becomes `Allow`. */
  allowed?: readonly string[];
  /** Further messages, one per field or cause. */
  also?: readonly string[];
  cause?: unknown;
}

/**
 * A failure that is reported to the caller: a kind and our own messages. Never contains a secret value or a response of an
 * external system. `not_found` without a message is the response for a missing object or an empty list.
 */
export class Problem extends Error {
  readonly kind: ProblemKind;
  readonly sentences: readonly string[];
  readonly retryAfterSeconds: number | undefined;
  readonly allowed: readonly string[] | undefined;

  constructor(kind: ProblemKind, sentence = '', options: ProblemOptions = {}) {
    super(sentence || kind, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'Problem';
    this.kind = kind;
    this.sentences = [...(sentence ? [sentence] : []), ...(options.also ?? [])];
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.allowed = options.allowed;
  }
}

/**
 * A missing object or an empty list, which need no message (docs/conventions/http.md#errors); or a message that says what is
 * missing.
 */
export const notFound = (sentence?: string): Problem => new Problem('not_found', sentence);

/** Returns a value that was found. Throws `not_found` if there is none. */
export function requireFound<Found>(found: Found | undefined, sentence?: string): Found {
  if (found === undefined) throw notFound(sentence);
  return found;
}

/** Invalid input. The message names the field. */
export const invalid = (sentence: string, also: readonly string[] = []): Problem =>
  new Problem('invalid', sentence, { also });

export const permissionDenied = (): Problem => new Problem('forbidden', 'permission denied');
