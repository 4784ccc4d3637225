import { z } from 'zod';
import { type Endpoint, endpoint } from './endpoint.ts';
import type { Reply } from './envelope.ts';
import { parseFor, type RawRequest } from './parse-request.ts';
import { requireNeededCapability } from './required-capability.ts';

/** Paths in terms of the path below a mount, such as `/config`. */
interface Place {
  /** The Express path that receives its requests. */
  route: (below: string) => string;
  /** The path in the description of the API, if that is another one. */
  described?: (below: string) => string;
}

type Serve = (request: RawRequest) => Promise<Reply | undefined>;

/**
 * Turns endpoints below mounts into endpoints of the service. Only the mount decides which of them handles a request,
 * so those with the same method and route share one: `serve` finds the mount of its requests and the endpoint below it,
 * for `handlerBelow`.
 */
export function endpointsBelow<More>(
  { route, described = route }: Place,
  endpoints: readonly Endpoint<More>[],
  serve: (sharing: readonly Endpoint<More>[]) => Serve,
): Endpoint[] {
  const groups = Map.groupBy(endpoints, ({ method, path }) => `${method} ${route(path)}`);
  return [...groups.values()].map((sharing) =>
    endpoint({
      method: sharing[0]!.method,
      path: route(sharing[0]!.path),
      summary: sharing[0]!.summary,
      params: z.custom<Record<string, string>>(),
      query: z.unknown(),
      body: z.unknown(),
      budget: 'secret', // a secret, or a role with up to 1,000 IDs of each kind
      needs: 'create or update', // what each endpoint needs is checked once it is found
      describedAs: sharing.map((one) => ({ ...one, path: described(one.path) })),
      handle: serve(sharing),
    }),
  );
}

/**
 * Checks and parses a request for the endpoint that was found below its mount. The function that it returns handles the request.
 * @param more what the endpoint receives besides the request
 * @throws a problem (`forbidden`, `invalid`)
 */
export function handlerBelow<More>(endpoint: Endpoint<More>, request: RawRequest, more: More) {
  requireNeededCapability(endpoint, request.caller);
  return parseFor(endpoint, request, more);
}
