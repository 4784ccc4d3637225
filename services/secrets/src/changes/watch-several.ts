import type { Tx } from '@secrets/db';
import { invalid } from '@secrets/domain';
import type { Context } from '../context.ts';
import {
  findReadable,
  findSecrets,
  type InspectedRow,
  isFolder,
  lockEnabledMount,
  markPathsWatched,
  type ReadableRow,
  type WatchedMount,
} from '../queries/watch.ts';
import { presentSecretState } from './present-secret-state.ts';

/** Secrets of one request. */
export const maxWatched = 100;

/** Values in memory at once: each may have 1 MiB. */
const valuesAtOnce = 20;

interface SeveralRequest {
  namespaceId: string;
  mountPath: string;
  /** Paths of secrets below the mount, at most `maxWatched`. */
  paths: readonly string[];
  /** Whether the names of their keys are needed. Without them, no value is read. */
  keys: boolean;
}

interface SeveralWatched {
  mount: WatchedMount;
  secrets: WatchedState[];
}

/** The state of one secret; `keys` is null if its value cannot be opened. */
interface WatchedState {
  secret_name: string;
  secret_id: string | null;
  exists: boolean;
  readable: boolean;
  folder: boolean;
  revision: number;
  keys: string[] | null;
}

/**
 * Marks secrets as watched and returns their states in the order of the paths, in one transaction, like `watchSecret` for each.
 * Throws `invalid` if there is no mount at `mountPath`.
 */
export const watchSeveral = (
  context: Context,
  { namespaceId, mountPath, paths, keys }: SeveralRequest,
): Promise<SeveralWatched> =>
  context.db.transaction(async (tx) => {
    const mount = await lockEnabledMount(tx, namespaceId, mountPath);
    if (mount === undefined) throw invalid(`mount: no key-value store is mounted at ${mountPath}`);
    const ids = await markPathsWatched(tx, mount.id, paths);
    const states = await statesById(tx, context, [...ids.values()], keys);
    const secrets: WatchedState[] = [];
    for (const path of paths) {
      const id = ids.get(path);
      const state = id === undefined ? undefined : states.get(id);
      const folder = id === undefined && (await isFolder(tx, mount.id, path));
      secrets.push({ secret_name: path, secret_id: id ?? null, folder, ...(state ?? missing) });
    }
    return { mount, secrets };
  });

type SecretState = Pick<WatchedState, 'exists' | 'readable' | 'revision' | 'keys'>;

const missing: SecretState = { exists: false, readable: false, revision: 0, keys: [] };

async function statesById(
  tx: Tx,
  context: Context,
  ids: readonly string[],
  keys: boolean,
): Promise<Map<string, SecretState>> {
  const states = new Map<string, SecretState>();
  const add = ({ secretId, revision, version }: ReadableRow, keysOf: string[] | null) =>
    states.set(secretId, { exists: true, readable: version !== null, revision, keys: keysOf });
  if (!keys) for (const row of await findReadable(tx, ids)) add(row, []);
  for (let start = 0; keys && start < ids.length; start += valuesAtOnce)
    for (const row of await findSecrets(tx, ids.slice(start, start + valuesAtOnce)))
      add(row, keysOrNull(context, row));
  return states;
}

function keysOrNull({ keyRing, log }: Context, row: InspectedRow): string[] | null {
  const { secretId } = row;
  try {
    return presentSecretState(keyRing, secretId, row).keys;
  } catch (error) {
    log.error({ error, secretId }, 'the keys of a secret are unknown: its value cannot be read');
    return null;
  }
}
