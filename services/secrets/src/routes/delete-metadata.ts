import type { Kv } from '../kv.ts';
import { kvOperation } from '../kv-operation.ts';
import { deleteMetadata as runStatement } from '../queries/metadata.ts';

export const deleteMetadata = (kv: Kv) =>
  kvOperation({
    method: 'delete',
    kind: 'metadata',
    path: 'secret',
    summary: 'delete a secret with all of its versions, for good',
    handle: async ({ mount, path }) => {
      if (await runStatement(kv.db, mount, path)) kv.notifyChanged();
      return undefined;
    },
  });
