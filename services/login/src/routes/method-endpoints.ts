import { notFound } from '@secrets/domain';
import {
  type Endpoint,
  endpoint,
  methodNotTaken,
  parseInput,
  parseLeniently,
  type Reply,
  type Request,
  requireNeeded,
  unknownFieldWarnings,
} from '@secrets/http';
import { z } from 'zod';
import type { AuthMethod, MethodEndpoint, MethodRequest } from '../auth-methods/auth-method.ts';
import { noAuthMount, requireAuthMount } from '../auth-mounts/require-auth-mount.ts';
import type { Context } from '../context.ts';

const Params = z.looseObject({ mount: z.string() });
type AnyRequest = Request<z.infer<typeof Params>, unknown, unknown>;

/**
 * The endpoints that login methods have below their mounts, such as `auth/<mount>/config` (docs/api.md#cloudb-login). Methods may
 * have the same paths: the type of the mount decides whose endpoint handles a request.
 */
export function methodEndpoints(context: Context): Endpoint[] {
  const all = context.methods.all.flatMap(({ endpoints }) => endpoints);
  const groups = Map.groupBy(all, ({ method, path }) => `${method} ${path}`);
  return [...groups.values()].map((group) => mounted(context, group));
}

/** One endpoint for those of the same method and path. */
const mounted = (context: Context, group: readonly MethodEndpoint[]): Endpoint =>
  endpoint({
    method: group[0]!.method,
    path: fullPath(group[0]!),
    summary: group[0]!.summary,
    params: Params,
    query: z.unknown(),
    body: z.unknown(),
    needs: 'create or update', // what each endpoint needs is checked once it is found
    describedAs: group.map(described),
    handle: (request) => handleBelowMount(context, group, request),
  });

const fullPath = ({ path }: MethodEndpoint): string => `/auth/*mount${path}`;

const described = (own: MethodEndpoint): Endpoint => ({ ...own, path: fullPath(own) }) as unknown as Endpoint;

async function handleBelowMount(
  context: Context,
  group: readonly MethodEndpoint[],
  { params, query, body, caller, warn }: AnyRequest,
): Promise<Reply | undefined> {
  const { mount: path, ...ownParams } = params;
  const mount = await requireAuthMount(context, caller, path, noAuthMount(path));
  const own = endpointOf(context.methods.ofType(mount.type), group);
  requireNeeded(own, caller);
  for (const sentence of unknownFieldWarnings(own.body, body)) warn(sentence);
  const request = {
    mount,
    params: parseInput(own.params, ownParams),
    query: parseLeniently(own.query, query),
    body: parseLeniently(own.body, body),
    caller,
    warn,
  };
  return own.handle(request as MethodRequest<never, never, never>);
}

/** The endpoint of a method among those of one path. Throws `not_found` or `method_not_allowed` if it has none. */
function endpointOf(method: AuthMethod | undefined, group: readonly MethodEndpoint[]): MethodEndpoint {
  const endpoints = method?.endpoints ?? [];
  const own = endpoints.find((candidate) => group.includes(candidate));
  if (own !== undefined) return own;
  const samePath = endpoints.filter(({ path }) => path === group[0]!.path);
  if (samePath.length === 0) throw notFound('no such path');
  throw methodNotTaken(samePath.map((other) => other.method));
}
