import { useQuery } from '@tanstack/react-query';
import { type Api, dataOf, ifPresent } from '../../api/client.ts';
import { parseExact } from '../../api/exact-json.ts';
import { ApiProblem } from '../../api/problem.ts';
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

const readMetadata = async (api: Api, secret: SecretRef) => {
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
  const params = { path: pathOf(secret), query: { version } };
  return useQuery({
    queryKey: ['secrets', 'keys', secret.mount, secret.name, version],
    queryFn: async () => {
      if (source === 'data') return Object.keys(await readValues(api, secret, version));
      const query = { ...params.query, depth: 1 };
      const answer = await ifPresent(api.GET('/v1/{mount}/subkeys/{path}', { params: { ...params, query } }));
      return Object.keys(answer === undefined ? {} : dataOf(answer).subkeys);
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Reads the values of a version, the newest one by default. They are in no cache. Empty if it is deleted. */
export async function readValues(
  api: Api,
  secret: SecretRef,
  version?: number | undefined,
): Promise<Record<string, unknown>> {
  const query = version === undefined ? {} : { version };
  try {
    const { data } = await api.GET('/v1/{mount}/data/{path}', {
      params: { path: pathOf(secret), query },
      parseAs: 'text',
    });
    const { data: envelope } = parseExact(String(data)) as { data: { data: Record<string, unknown> | null } };
    return envelope.data ?? {};
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) return {};
    throw error;
  }
}

export const syncedPath = 'sys/sync/associations/destinations';

/** Where a secret is synced, and the status there. */
export function useSyncedTo({ mount, name }: SecretRef, enabled: boolean) {
  const api = useApi();
  return useQuery({
    queryKey: ['sync', 'associations', 'of-secret', mount, name],
    queryFn: async () => {
      const query = { mount, secret_name: name };
      const answer = await ifPresent(
        api.GET('/v1/sys/sync/associations/destinations', { params: { query } }),
      );
      return Object.values(answer === undefined ? {} : dataOf(answer).associated_destinations);
    },
    refetchInterval: 5_000,
    enabled,
  });
}
