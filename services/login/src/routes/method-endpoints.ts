import { notFound } from '@secrets/domain';
import {
  type Endpoint,
  endpointsBelow,
  handlerBelow,
  methodNotAllowed,
  type RawRequest,
} from '@secrets/http';
import type { AuthMethod, MethodEndpoint } from '../auth-methods/auth-method.ts';
import { noAuthMount, requireAuthMount } from '../auth-mounts/require-auth-mount.ts';
import type { Context } from '../context.ts';

const place = { route: (below: string) => `/auth/*mount${below}` };

/**
 * The endpoints that login methods have below their mounts, such as `auth/<mount>/config`
 * (docs/api/access.md#cloudb-login). Methods may have the same paths: the type of the mount decides whose endpoint
 * handles a request.
 */
export function methodEndpoints(context: Context): Endpoint[] {
  const all = context.methods.all.flatMap(({ endpoints }) => endpoints);
  return endpointsBelow(
    place,
    all,
    (group) => async (request) => (await handlerIn(context, group, request))(),
  );
}

async function handlerIn(context: Context, group: readonly MethodEndpoint[], request: RawRequest) {
  const { mount: path = '', ...params } = request.params;
  const mount = await requireAuthMount(context, request.caller, path, noAuthMount(path));
  const own = endpointOf(context.methods.ofType(mount.type), group);
  return handlerBelow(own, { ...request, params }, { mount });
}

/** The endpoint of a method among those of one path. Throws `not_found` or `method_not_allowed` if it has none. */
function endpointOf(method: AuthMethod | undefined, group: readonly MethodEndpoint[]): MethodEndpoint {
  const endpoints = method?.endpoints ?? [];
  const own = endpoints.find((candidate) => group.includes(candidate));
  if (own !== undefined) return own;
  const samePath = endpoints.filter(({ path }) => path === group[0]!.path);
  if (samePath.length === 0) throw notFound('no such path');
  throw methodNotAllowed(samePath.map((other) => other.method));
}
