import { notFound, type Problem } from '@secrets/domain';
import {
  type Endpoint,
  endpoint,
  type Method,
  methodNotTaken,
  parseInput,
  parseLeniently,
  type Reply,
  type Request,
  requireNeeded,
  unknownFieldWarnings,
} from '@secrets/http';
import { z } from 'zod';
import type { MountCache } from '../mounts/mount-cache.ts';
import { isReserved } from '../mounts/mount-path.ts';
import { type MountRef, StaleMountError } from '../mounts/mount-ref.ts';
import type { KvEndpoint, KvRequest } from './kv-endpoint.ts';

const methods: readonly Method[] = ['list', 'get', 'post', 'patch', 'delete'];

/** Not parsed here: the endpoint below the mount parses its part of the path. */
const MountedPath = z.custom<{ path: string }>();
type MountedRequest = Request<z.infer<typeof MountedPath>, unknown, unknown>;

type Handle = () => Promise<Reply | undefined>;

/**
 * Routes requests to the endpoints below mounts. The length of a mount's path is known only from the mounts themselves,
 * so there is one wildcard endpoint per method; it finds the mount, and then the endpoint by the path below it.
 */
export function kvRouter(mounts: MountCache, endpoints: readonly KvEndpoint[]): Endpoint[] {
  const table = new Map(endpoints.map((kv) => [keyOf(kv.method, splitPath(kv.path.slice(1)).kind), kv]));
  return methods.map((method) =>
    endpoint({
      method,
      path: '/*path',
      summary: 'Call an endpoint below a mount',
      params: MountedPath,
      query: z.unknown(),
      body: z.unknown(),
      needs: 'create or update', // what each endpoint needs is checked once it is found
      describedAs: endpoints.filter((kv) => kv.method === method).map(described),
      handle: (request) => withMount(mounts, request, (mount) => route(table, method, mount, request)),
    }),
  );
}

const keyOf = (method: Method, kind: string): string => `${method} ${kind}`;

/**
 * Finds the mount and handles the request. A cached mount may be out of date: if a statement reports so, or if the
 * request is invalid below it, the mount is looked up once more.
 */
async function withMount(
  mounts: MountCache,
  { params, caller }: MountedRequest,
  routeBelow: (mount: MountRef) => Handle,
): Promise<Reply | undefined> {
  if (isReserved(params.path)) throw notFound('no such path');
  for (const isRetry of [false, true]) {
    const mount = await mounts.find(caller.namespace.id, `${params.path}/`); // the path may be that of the mount
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
function route(
  table: ReadonlyMap<string, KvEndpoint>,
  method: Method,
  mount: MountRef,
  request: MountedRequest,
): Handle {
  const { kind, rest } = splitPath(request.params.path.slice(mount.path.length + 1));
  const found = table.get(keyOf(method, kind));
  if (found === undefined) throw noEndpoint(table, kind);
  if (found.params === undefined && rest !== '') throw notFound();
  requireNeeded(found, request.caller);
  const parsed = {
    params: parseInput(found.params, { path: rest }),
    query: parseLeniently(found.query, request.query),
    body: parseLeniently(found.body, request.body),
  };
  return () => {
    for (const warning of unknownFieldWarnings(found.body, request.body)) request.warn(warning);
    return found.handle({ ...request, ...parsed, mount } as KvRequest<never, never, never>);
  };
}

/** Splits `data/a/b` into `data` and `a/b`. */
function splitPath(below: string): { kind: string; rest: string } {
  const slash = below.indexOf('/');
  return slash === -1
    ? { kind: below, rest: '' }
    : { kind: below.slice(0, slash), rest: below.slice(slash + 1) };
}

function noEndpoint(table: ReadonlyMap<string, KvEndpoint>, kind: string): Problem {
  const byKind = Map.groupBy(table.values(), ({ path }) => splitPath(path.slice(1)).kind);
  const sameKind = byKind.get(kind);
  if (sameKind !== undefined) return methodNotTaken(sameKind.map(({ method }) => method));
  const kinds = [...byKind.keys()].map((known) => `${known}/`).join(', ');
  return notFound(`no such path: below a mount, paths begin with ${kinds}`);
}

/** For the description of the API only: it has no handler. */
const described = ({ path, handle: _, ...definition }: KvEndpoint): Endpoint =>
  ({ ...definition, path: `/:mount${path}` }) as unknown as Endpoint;
