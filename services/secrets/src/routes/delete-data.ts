import type { Context } from '../context.ts';
import { kvOperation } from '../kv-operation.ts';
import { deleteNewestVersion } from '../queries/change-versions.ts';

export const deleteData = (context: Context) =>
  kvOperation({
    method: 'delete',
    kind: 'data',
    path: 'secret',
    summary: 'delete the newest version; it can be undeleted',
    handle: async ({ mount, path }) => {
      if (await deleteNewestVersion(context.db, mount, path)) context.notifyChanged();
      return undefined;
    },
  });
