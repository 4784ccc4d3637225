import { notFound } from '@secrets/domain';
import type { Context } from '../context.ts';
import { kvOperation } from '../kv-operation.ts';
import { cutToPage, Page } from '../list-page.ts';
import { listFolder } from '../queries/list-folder.ts';

export const listSecrets = (context: Context) =>
  kvOperation({
    method: 'list',
    kind: 'metadata',
    path: 'folder',
    summary: 'list the names in a folder; subfolders end with a slash',
    query: Page,
    handle: async ({ mount, path, query, warn }) => {
      const { after, limit } = query;
      const names = await listFolder(context.db, mount, { folder: path, after, limit: limit + 1 });
      if (names.length === 0) throw notFound();
      return { data: { keys: cutToPage(names, limit, (name) => name, warn) } };
    },
  });
