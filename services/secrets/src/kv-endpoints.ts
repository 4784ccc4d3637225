import { notFound, Problem } from '@secrets/domain';
import {
  type Endpoint,
  endpoint,
  type Method,
  methodNotTaken,
  parseInput,
  type Reply,
  type Request,
  unknownFieldWarnings,
} from '@secrets/http';
import { z } from 'zod';
import { type KnownMounts, MountGone, type MountRef } from './known-mounts.ts';
import { type KvOperation, type KvRequest, kvKinds } from './kv-operation.ts';
import { isReserved } from './mount-path.ts';
import { checkFolder, checkPath } from './secret-path.ts';

const methods: readonly Method[] = ['list', 'get', 'post', 'patch', 'delete'];

const AnyPath = z.object({ path: z.string() });
type AnyRequest = Request<z.infer<typeof AnyPath>, unknown, unknown>;

/**
 * The endpoints below mounts. Where a mount's path ends is known only from the mounts themselves, so one wildcard
 * endpoint a verb takes every path that no other endpoint takes, finds the mount and hands over to the operation.
 */
export function kvEndpoints(mounts: KnownMounts, operations: readonly KvOperation[]): Endpoint[] {
  const table = new Map(operations.map((operation) => [`${operation.method} ${operation.kind}`, operation]));
  return methods.map((method) =>
    endpoint({
      method,
      path: '/*path',
      summary: 'an operation below a mount',
      params: AnyPath,
      query: z.unknown(),
      body: z.unknown(),
      describedAs: operations.filter((operation) => operation.method === method).map(described),
      handle: (request) =>
        underItsMount(mounts, request, (mount) => prepareOperation(table, method, mount, request)),
    }),
  );
}

/**
 * What is remembered of a mount may be out of date. A statement that finds it gone, and a request that makes no sense
 * below it, have the mount looked for once more.
 */
async function underItsMount(
  mounts: KnownMounts,
  { params, caller }: AnyRequest,
  prepare: (mount: MountRef) => () => Promise<Reply | undefined>,
): Promise<Reply | undefined> {
  if (isReserved(params.path)) throw new Problem('not_found', 'no such path');
  for (let tries = 0; tries < 2; tries++) {
    const mount = await mounts.find(caller.namespace.id, `${params.path}/`); // the path may be the mount's own
    if (mount === undefined) break;
    try {
      return await prepared(prepare, mount, tries === 0)();
    } catch (error) {
      if (!(error instanceof MountGone)) throw error;
      mounts.forget(mount);
    }
  }
  throw new Problem('not_found', 'nothing is mounted at this path');
}

function prepared(
  prepare: (mount: MountRef) => () => Promise<Reply | undefined>,
  mount: MountRef,
  isDoubtful: boolean,
) {
  try {
    return prepare(mount);
  } catch (error) {
    throw isDoubtful ? new MountGone() : error;
  }
}

/** Finds the operation and parses its input; what it gives runs it. */
function prepareOperation(
  table: ReadonlyMap<string, KvOperation>,
  method: Method,
  mount: MountRef,
  request: AnyRequest,
): () => Promise<Reply | undefined> {
  const [kind, rest] = splitKind(request.params.path.slice(mount.path.length + 1));
  const operation = table.get(`${method} ${kind}`);
  if (operation === undefined) throw noOperation(table, kind);
  const input = {
    mount,
    path: checkedPath(operation, rest),
    query: parseInput(operation.query, request.query),
    body: parseInput(operation.body, request.body),
    caller: request.caller,
    warn: request.warn,
  };
  return () => {
    for (const warning of unknownFieldWarnings(operation.body, request.body)) request.warn(warning);
    return operation.handle(input as KvRequest<never, never>);
  };
}

/** `data/a/b` as `data` and `a/b`. */
function splitKind(below: string): [kind: string, rest: string] {
  const slash = below.indexOf('/');
  return slash === -1 ? [below, ''] : [below.slice(0, slash), below.slice(slash + 1)];
}

function noOperation(table: ReadonlyMap<string, KvOperation>, kind: string): Problem {
  const taken = [...table.values()].filter((operation) => operation.kind === kind);
  if (taken.length > 0) return methodNotTaken(taken.map(({ method }) => method));
  return new Problem(
    'not_found',
    `no such path: a versioned mount answers below ${kvKinds.map((known) => `${known}/`).join(', ')}`,
  );
}

function checkedPath(operation: KvOperation, rest: string): string {
  if (operation.path === 'folder') return checkFolder(rest);
  if (operation.path === 'secret') return checkPath(rest);
  if (rest !== '') throw notFound();
  return '';
}

const described = ({ method, kind, summary, path, query, body }: KvOperation): Endpoint =>
  ({
    method,
    path: path === 'none' ? `/:mount/${kind}` : `/:mount/${kind}/*path`,
    summary,
    query,
    body,
  }) as Endpoint; // for the description only: it has no handler
