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
export function problemHeaders(problem: Problem): [name: string, value: string][] {
  const { kind, allowed, retryAfterSeconds = kind === 'unavailable' ? outageSeconds : undefined } = problem;
  return [
    ...(retryAfterSeconds === undefined ? [] : [header('retry-after', String(Math.ceil(retryAfterSeconds)))]),
    ...(allowed === undefined ? [] : [header('allow', allowed.join(', '))]),
  ];
}

/** Seconds after which clients try again what is unavailable, unless the problem says otherwise. */
const outageSeconds = 5;

const header = (name: string, value: string): [name: string, value: string] => [name, value];
