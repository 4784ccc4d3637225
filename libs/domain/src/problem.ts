/** Why a request failed. Domain code knows these words and no HTTP; `libs/http` holds the one table to status codes. */
export const problemKinds = [
  'invalid',
  'forbidden',
  'not_found',
  'method_not_allowed',
  'conflict',
  'too_large',
  'unsupported_media_type',
  'queue_full',
  'rate_limited',
  'bad_gateway',
  'unavailable',
] as const;

export type ProblemKind = (typeof problemKinds)[number];

export interface ProblemOptions {
  /** Seconds after which a retry may succeed; becomes `Retry-After`. */
  retryAfterSeconds?: number;
  /** The verbs that would be taken; becomes `Allow`. */
  allowed?: readonly string[];
  /** Further sentences, one per field or cause. */
  also?: readonly string[];
  cause?: unknown;
}

/**
 * A refusal that the caller is meant to read: a kind and sentences of ours. Never holds a secret value or a
 * remote's body. `not_found` with an empty sentence is the answer for a missing object or an empty list.
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

/** A missing object or an empty list, which need no sentence (docs/conventions.md#13-errors); or what is missing. */
export const notFound = (sentence?: string): Problem => new Problem('not_found', sentence);

/** Bad input; the sentence names the field. */
export const invalid = (sentence: string, also: readonly string[] = []): Problem =>
  new Problem('invalid', sentence, { also });

export const permissionDenied = (): Problem => new Problem('forbidden', 'permission denied');
