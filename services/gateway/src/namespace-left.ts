import type { Caller, Namespace } from '@secrets/caller';
import type { Db } from '@secrets/db';
import { Problem } from '@secrets/domain';
import type { InternalClient } from '@secrets/http';
import type { GatewayRequest } from './gateway-request.ts';

/** The services that hold what login, which owns namespaces, does not see. */
export interface NamespaceHolders {
  secrets: InternalClient;
  'sync-control': InternalClient;
}

/** Refuses (`conflict`) to let a request pass that would delete a namespace in which something still stands. */
export type RefuseFilledNamespace = (gatewayRequest: GatewayRequest, caller: Caller) => Promise<void>;

const folder = 'sys/namespaces/';

/**
 * Asks the other services what is left in a namespace before login is asked to delete it: a secret or a sync
 * destination of a namespace that is gone could be reached by nobody, and would go on being synced. For the sentence: what
 * comes after this look makes the deletion fail in the database.
 */
export const refuseFilledNamespace =
  (db: Db, holders: NamespaceHolders): RefuseFilledNamespace =>
  async (gatewayRequest, caller) => {
    if (gatewayRequest.operation !== 'delete' || !gatewayRequest.path.startsWith(folder)) return;
    const path = [caller.namespace.path, gatewayRequest.path.slice(folder.length)].filter(Boolean).join('/');
    const namespace = await namespaceAt(db, path);
    if (namespace === undefined) return;
    const within = { ...caller, namespace };
    const [mounts, destinations] = await Promise.all([
      keysAt(holders.secrets, '/v1/sys/mounts?list=true', within),
      keysAt(holders['sync-control'], '/v1/sys/sync/destinations?list=true', within),
    ]);
    const left = [named('mounts', mounts), named('sync destinations of types', destinations)].filter(Boolean);
    if (left.length > 0)
      throw new Problem(
        'conflict',
        `the namespace still holds ${left.join(' and ')}; disable and delete them first`,
      );
  };

async function namespaceAt(db: Db, path: string): Promise<Namespace | undefined> {
  const [row] = await db.query<Namespace>('select id, path from login.namespaces where path = $1', [path]);
  return row;
}

async function keysAt(holder: InternalClient, path: string, caller: Caller): Promise<string[]> {
  try {
    return ((await holder.call('GET', path, caller)) as { keys?: string[] } | undefined)?.keys ?? [];
  } catch (error) {
    if (error instanceof Problem && error.kind === 'not_found') return []; // an empty list
    throw error;
  }
}

const maxListed = 5;

function named(what: string, keys: readonly string[]): string {
  if (keys.length === 0) return '';
  const more = keys.length > maxListed ? ` and ${keys.length - maxListed} more` : '';
  return `${what} (${keys.slice(0, maxListed).join(', ')}${more})`;
}
