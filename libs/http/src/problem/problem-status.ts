import type { Problem, ProblemKind } from '@secrets/domain';

/** The status code of each kind of problem (docs/conventions/http.md#errors). */
export const httpStatus = {
  invalid: 400,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  timeout: 408,
  conflict: 409,
  too_large: 413,
  unsupported_media_type: 415,
  queue_full: 429,
  rate_limited: 429,
  bad_gateway: 502,
  unavailable: 503,
} satisfies Record<ProblemKind, number>;

/** The response headers of a problem: `Retry-After` in whole seconds, and `Allow`. */
export function problemHeaders({ retryAfterSeconds, allowed }: Problem): [name: string, value: string][] {
  return [
    ...(retryAfterSeconds === undefined ? [] : [header('retry-after', String(Math.ceil(retryAfterSeconds)))]),
    ...(allowed === undefined ? [] : [header('allow', allowed.join(', '))]),
  ];
}

const header = (name: string, value: string): [name: string, value: string] => [name, value];
