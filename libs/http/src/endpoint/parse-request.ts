import { requireAdministrative } from '@secrets/caller';
import type { Endpoint, Request } from './endpoint.ts';
import type { Reply } from './envelope.ts';
import { parseInput, parseLeniently, unknownFieldWarnings } from './input/parse-input.ts';

/** A request whose endpoint is to parse it. */
export type RawRequest = Request<Record<string, string>, unknown, unknown>;

/**
 * Parses a request for an endpoint. The function that it returns handles the request. It throws `not_found` where the
 * endpoint does not exist, which the gateway refuses before.
 */
export function parseFor<More>(
  endpoint: Endpoint<More>,
  request: RawRequest,
  more?: More,
): () => Promise<Reply | undefined> {
  const warnings = unknownFieldWarnings(endpoint.body, request.body);
  const parsed = {
    ...request,
    ...more,
    params: parseInput(endpoint.params, request.params),
    query: parseLeniently(endpoint.query, request.query),
    body: parseLeniently(endpoint.body, request.body),
  };
  return () => {
    if (endpoint.access?.isAdministrative) requireAdministrative(request.caller);
    for (const warning of warnings) request.warn(warning);
    return endpoint.handle(parsed as unknown as Request<never, never, never> & More);
  };
}
