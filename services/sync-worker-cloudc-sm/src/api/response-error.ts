import { parsedJson } from '@secrets/domain';
import { retryAfterSeconds } from '@secrets/sync-worker';
import { z } from 'zod';

/**
 * Properties of an error response that determine its fault. Its message has no details, because the provider's own may
 * contain a value.
 */
export class ResponseError extends Error {
  readonly status: number;
  /** Such as `NOT_FOUND` (google.rpc.Code), or `invalid_grant` from a token endpoint. */
  readonly code: string | undefined;
  /** Such as `SERVICE_DISABLED` (google.rpc.ErrorInfo). */
  readonly reason: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly #text: string;

  constructor(
    status: number,
    parts: Partial<Pick<ResponseError, 'code' | 'reason' | 'retryAfterSeconds' | 'text'>> = {},
  ) {
    super(`status ${status}`);
    this.name = 'ResponseError';
    this.status = status;
    this.code = parts.code;
    this.reason = parts.reason;
    this.retryAfterSeconds = parts.retryAfterSeconds;
    this.#text = parts.text ?? '';
  }

  /** The body, which is compared with patterns and never shown. */
  get text(): string {
    return this.#text;
  }
}

const Code = z.string().regex(/^[A-Za-z_]{3,40}$/);
const Detail = z.object({
  '@type': z.string(),
  reason: z
    .string()
    .regex(/^[A-Z][A-Z0-9_]{2,62}$/)
    .optional()
    .catch(undefined),
  retryDelay: z.string().optional().catch(undefined),
});

/** The error bodies of the API (https://cloud.google.com/apis/design/errors) and of OAuth (RFC 6749, section 5.2). */
const ErrorBody = z.object({
  error: z.union([
    Code.transform((status) => ({ status, details: [] })),
    z.object({ status: Code.optional().catch(undefined), details: z.array(Detail).default([]).catch([]) }),
  ]),
});

/** Reads an error response. */
export async function responseErrorOf(response: Response): Promise<ResponseError> {
  const text = await response.text();
  const parsed = ErrorBody.safeParse(parsedJson(text));
  const { status: code, details } = parsed.data?.error ?? { status: undefined, details: [] };
  const wait = details
    .map(({ retryDelay }) => /^(\d{1,6})(\.\d+)?s$/.exec(retryDelay ?? '')?.[1])
    .find(Boolean);
  return new ResponseError(response.status, {
    code,
    text,
    reason: details.find((detail) => detail['@type'].endsWith('/google.rpc.ErrorInfo'))?.reason,
    retryAfterSeconds: retryAfterSeconds(wait ?? response.headers.get('retry-after') ?? undefined),
  });
}
