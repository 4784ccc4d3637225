import type { ProblemKind } from '@secrets/domain';

/** The one table from problems to HTTP (docs/conventions.md#13-errors). */
export const httpStatus = {
  invalid: 400,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  too_large: 413,
  unsupported_media_type: 415,
  queue_full: 429,
  rate_limited: 429,
  bad_gateway: 502,
  unavailable: 503,
} satisfies Record<ProblemKind, number>;
