import { notFound, Problem } from '@secrets/domain';
import {
  type Endpoint,
  endpointsBelow,
  handlerBelow,
  methodNotAllowed,
  type RawRequest,
  type Reply,
} from '@secrets/http';
import type { MountCache } from '../../mounts/mount-cache.ts';
import { isReserved } from '../../mounts/mount-path.ts';
import { type MountRef, StaleMountError } from '../../mounts/mount-ref.ts';
import type { KvEndpoint } from './kv-endpoint.ts';

type Handle = () => Promise<Reply | undefined>;

/**
 * The length of a mount's path is known only from the mounts themselves, so one wildcard receives the requests for all
 * of them.
 */
const place = { route: () => '/*path', described: (below: string) => `/:mount${below}` };

/** Routes requests to the endpoints below mounts: finds the mount, and then the endpoint by the path below it. */
export function kvRouter(mounts: MountCache, endpoints: readonly KvEndpoint[]): Endpoint[] {
  const isList = ({ method }: KvEndpoint) => method === 'list';
  const listsFirst = [...endpoints.filter(isList), ...endpoints.filter((kv) => !isList(kv))]; // in the description
  return endpointsBelow(place, listsFirst, (ofMethod) => {
    const byKind = new Map(ofMethod.map((kv) => [kindOf(kv), kv]));
    const find = (kind: string) => byKind.get(kind) ?? noEndpoint(endpoints, kind);
    return (request) => withMount(mounts, request, (mount) => handlerIn(find, mount, request));
  });
}

const kindOf = ({ path }: KvEndpoint): string => splitPath(path.slice(1)).kind;

/**
 * Finds the mount and handles the request. A cached mount may be out of date: if a statement reports so, or if the
 * request is invalid below it, the mount is looked up once more.
 */
async function withMount(
  mounts: MountCache,
  { params, caller }: RawRequest,
  routeBelow: (mount: MountRef) => Handle,
): Promise<Reply | undefined> {
  const { path = '' } = params;
  if (isReserved(path)) throw notFound('no such path');
  for (const isRetry of [false, true]) {
    const mount = await mounts.find(caller.namespace.id, `${path}/`); // the path may be that of the mount
    if (mount === undefined) break;
    try {
      return await (isRetry ? routeBelow(mount) : orStale(() => routeBelow(mount)))();
    } catch (error) {
      if (!(error instanceof StaleMountError)) throw error;
      mounts.forget(mount);
    }
  }
  throw notFound('nothing is mounted at this path');
}

function orStale(route: () => Handle): Handle {
  try {
    return route();
  } catch (cause) {
    throw new StaleMountError(undefined, { cause });
  }
}

/** Finds the endpoint and parses the request; the returned function handles it. */
function handlerIn(find: (kind: string) => KvEndpoint, mount: MountRef, request: RawRequest): Handle {
  const { kind, rest } = splitPath(request.params.path!.slice(mount.path.length + 1));
  const found = find(kind);
  if (found.params === undefined && rest !== '') throw notFound();
  return handlerBelow(found, { ...request, params: { path: rest } }, { mount });
}

/** Splits `data/a/b` into `data` and `a/b`. */
function splitPath(below: string): { kind: string; rest: string } {
  const slash = below.indexOf('/');
  return slash === -1
    ? { kind: below, rest: '' }
    : { kind: below.slice(0, slash), rest: below.slice(slash + 1) };
}

/** With 404, clients would take a folder of OpenBao's API (https://openbao.org/api-docs/secret/kv/kv-v2/) for empty. */
const noDetails = () =>
  new Problem(
    'method_not_allowed',
    'detailed-metadata is not supported: list metadata and read that of each secret',
    {
      allowed: [],
    },
  );

function noEndpoint(endpoints: readonly KvEndpoint[], kind: string): never {
  if (kind === 'detailed-metadata') throw noDetails();
  const byKind = Map.groupBy(endpoints, kindOf);
  const sameKind = byKind.get(kind);
  if (sameKind !== undefined) throw methodNotAllowed(sameKind.map(({ method }) => method));
  const kinds = [...byKind.keys()].map((known) => `${known}/`).join(', ');
  throw notFound(`no such path: below a mount, paths begin with ${kinds}`);
}
