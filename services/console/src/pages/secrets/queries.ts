import { useQuery } from '@tanstack/react-query';
import { type Api, dataOf, ifPresent } from '../../api/client.ts';
import { parseExact } from '../../api/exact-json.ts';
import { ApiProblem } from '../../api/problem.ts';
import { usePermissions } from '../../session/permissions.ts';
import { useApi } from '../../session/session.ts';

/** A secret: the path of its mount, and its name there. */
export interface SecretRef {
  mount: string;
  name: string;
}

/** A key-value mount that the token has any right in. */
export interface Mount {
  /** Without a slash at its end. */
  path: string;
  description: string;
}

const pageSize = 100;

/** The mounts in which the token has any right. */
export function useMounts() {
  const api = useApi();
  return useQuery({
    queryKey: ['secrets', 'mounts'],
    queryFn: async () => mountsOf(dataOf(await api.GET('/v1/sys/internal/ui/mounts')).secret),
  });
}

function mountsOf(byPath: object): Mount[] {
  return Object.entries(byPath as Record<string, { description?: string } | undefined>).map(
    ([path, mount]) => ({
      path: path.replace(/\/$/, ''),
      description: mount?.description ?? '',
    }),
  );
}

/** Finds the mount that contains a path. Rejects with 403 if the token has no right there, or there is none. */
export async function resolvePath(api: Api, path: string): Promise<SecretRef> {
  const trimmed = path.trim().replace(/^\/+/, '');
  const answer = await api.GET('/v1/sys/internal/ui/mounts/{path}', {
    params: { path: { path: trimmed.replace(/\/$/, '') } },
  });
  const mount = dataOf(answer).path.replace(/\/$/, '');
  return { mount, name: trimmed.slice(mount.length + 1) };
}

/** A page of the names in a folder; folders end with a slash. `folder` is empty or ends with a slash, too. */
export function useFolder(
  { mount, folder, after }: { mount: string; folder: string; after: string | undefined },
  enabled: boolean,
) {
  const api = useApi();
  return useQuery({
    queryKey: ['secrets', 'folder', mount, folder, after],
    queryFn: () => readFolder(api, mount, folder, after),
    placeholderData: (previous, query) => (query?.queryKey[3] === folder ? previous : undefined),
    enabled,
  });
}

async function readFolder(api: Api, mount: string, folder: string, after = ''): Promise<string[]> {
  const query = { list: 'true', after, limit: pageSize } as const;
  const path = { mount, path: folder.replace(/\/$/, '') };
  const answer = await ifPresent(api.GET('/v1/{mount}/metadata/{path}', { params: { path, query } }));
  // The description has the response of the read, which is at the same path.
  return answer === undefined ? [] : (dataOf(answer) as unknown as { keys: string[] }).keys;
}

/** Where the next page of a folder begins; undefined on the last one. */
export const nextName = (names: readonly string[] | undefined): string | undefined =>
  names?.length === pageSize ? names.at(-1) : undefined;

const pathOf = ({ mount, name }: SecretRef) => ({ mount, path: name });

/** Reads settings and versions of a secret; null if it does not exist. */
export const readMetadata = async (api: Api, secret: SecretRef) => {
  const answer = await ifPresent(
    api.GET('/v1/{mount}/metadata/{path}', { params: { path: pathOf(secret) } }),
  );
  return answer === undefined ? null : dataOf(answer);
};

/** Settings and versions of a secret. */
export type SecretMetadata = NonNullable<Awaited<ReturnType<typeof readMetadata>>>;

/** The metadata of a secret; null if it does not exist. */
export function useMetadata(secret: SecretRef, enabled: boolean) {
  const api = useApi();
  return useQuery({
    queryKey: ['secrets', 'metadata', secret.mount, secret.name],
    queryFn: () => readMetadata(api, secret),
    enabled,
  });
}

/** The top-level keys of a version, without values; empty for one that is deleted. */
export function useKeys(secret: SecretRef, version: number, source: 'subkeys' | 'data') {
  const api = useApi();
  return useQuery({
    queryKey: ['secrets', 'keys', secret.mount, secret.name, version],
    queryFn: async () =>
      source === 'data'
        ? Object.keys(await readValues(api, secret, version))
        : readKeys(api, secret, version),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** A version that was read: its number, 0 if there is none; and its values, empty if it is deleted. */
interface VersionContent {
  version: number;
  values: Record<string, unknown>;
}

interface VersionEnvelope {
  data?: { data?: VersionContent['values'] | null; metadata?: { version?: number } } | null;
}

/** Reads a version, the newest one by default. Its values are in no cache. */
export async function readVersion(
  api: Api,
  secret: SecretRef,
  version?: number | undefined,
): Promise<VersionContent> {
  const query = version === undefined ? {} : { version };
  try {
    const params = { path: pathOf(secret), query };
    const { data } = await api.GET('/v1/{mount}/data/{path}', { params, parseAs: 'text' });
    return contentOf(parseExact(String(data)));
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) return contentOf(error.body);
    throw error;
  }
}

function contentOf(body: unknown): VersionContent {
  const { data } = (body ?? {}) as VersionEnvelope;
  return { version: data?.metadata?.version ?? 0, values: data?.data ?? {} };
}

/** Reads the values of a version, the newest one by default. They are in no cache. Empty if it is deleted. */
export const readValues = async (
  api: Api,
  secret: SecretRef,
  version?: number | undefined,
): Promise<Record<string, unknown>> => (await readVersion(api, secret, version)).values;

/** Reads the top-level keys of a version, without values; empty for one that is deleted. */
export async function readKeys(api: Api, secret: SecretRef, version?: number | undefined): Promise<string[]> {
  const query = { depth: 1, ...(version === undefined ? {} : { version }) };
  const params = { path: pathOf(secret), query };
  const answer = await ifPresent(api.GET('/v1/{mount}/subkeys/{path}', { params }));
  return Object.keys(answer === undefined ? {} : dataOf(answer).subkeys);
}

/**
 * Returns the API paths that tell where a secret is synced. A mount that contains slashes is passed in the query, which
 * requires permission for both paths.
 */
const syncedPaths = ({ mount, name }: SecretRef): string[] => [
  `sys/sync/associations/${mount}/${name}`,
  ...(mount.includes('/') ? ['sys/sync/associations/destinations'] : []),
];

const readSyncedTo = (api: Api, { mount, name }: SecretRef) =>
  mount.includes('/')
    ? api.GET('/v1/sys/sync/associations/destinations', { params: { query: { mount, secret_name: name } } })
    : api.GET('/v1/sys/sync/associations/{mount}/{secret_name}', {
        params: { path: { mount, secret_name: name } },
      });

/** Where a secret is synced, and the status there. `isRefused` if the token may not see that. */
export function useSyncedTo(secret: SecretRef) {
  const api = useApi();
  const paths = syncedPaths(secret);
  const { may, known } = usePermissions(paths);
  const mayRead = paths.every((path) => may('read', path));
  const { data, error } = useQuery({
    queryKey: ['sync', 'associations', 'of-secret', secret.mount, secret.name],
    queryFn: async () => {
      const answer = await ifPresent(readSyncedTo(api, secret));
      return Object.values(answer === undefined ? {} : dataOf(answer).associated_destinations);
    },
    refetchInterval: 5_000,
    enabled: mayRead,
  });
  return { destinations: data, error, isRefused: known && !mayRead };
}
