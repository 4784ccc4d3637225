import { notFound } from '@secrets/domain';
import { endpoint } from '@secrets/http';
import type { Context } from '../context.ts';
import { cutToPage, Page } from '../list-page.ts';
import { withoutEndSlashes } from '../mount-path.ts';
import { presentMount } from '../present-mount.ts';
import { listMounts, type Mount } from '../queries/mounts.ts';

const path = '/sys/mounts';

/** GET: each mount by its path. */
export const readMounts = (context: Context) =>
  endpoint({
    method: 'get',
    path,
    summary: 'read all mounts of the namespace',
    query: Page,
    handle: async ({ query, caller, warn }) => {
      const mounts = await pageOf(context, caller.namespace.id, query, warn);
      return { data: byPath(mounts) };
    },
  });

/** LIST: the same under `key_info`, beside the names. */
export const listMountPaths = (context: Context) =>
  endpoint({
    method: 'list',
    path,
    summary: 'list the mounts of the namespace',
    query: Page,
    handle: async ({ query, caller, warn }) => {
      const mounts = await pageOf(context, caller.namespace.id, query, warn);
      if (mounts.length === 0) throw notFound();
      return { data: { keys: mounts.map(keyOf), key_info: byPath(mounts) } };
    },
  });

async function pageOf(
  context: Context,
  namespaceId: string,
  { after, limit }: Page,
  warn: (sentence: string) => void,
) {
  const mounts = await listMounts(context.db, namespaceId, withoutEndSlashes(after), limit + 1);
  return cutToPage(mounts, limit, keyOf, warn);
}

const keyOf = (mount: Mount): string => `${mount.path}/`;

const byPath = (mounts: readonly Mount[]) =>
  Object.fromEntries(mounts.map((mount) => [keyOf(mount), presentMount(mount)]));
