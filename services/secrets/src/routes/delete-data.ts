import type { Kv } from '../kv.ts';
import { kvOperation } from '../kv-operation.ts';
import { deleteNewestVersion } from '../queries/change-versions.ts';

export const deleteData = (kv: Kv) =>
  kvOperation({
    method: 'delete',
    kind: 'data',
    path: 'secret',
    summary: 'delete the newest version; it can be undeleted',
    handle: async ({ mount, path }) => {
      if (await deleteNewestVersion(kv.db, mount, path)) kv.notifyChanged();
      return undefined;
    },
  });
