import type { Context } from '../context.ts';
import { kvOperation } from '../kv-operation.ts';
import { deleteMetadata as runStatement } from '../queries/metadata.ts';

export const deleteMetadata = (context: Context) =>
  kvOperation({
    method: 'delete',
    kind: 'metadata',
    path: 'secret',
    summary: 'delete a secret with all of its versions, for good',
    handle: async ({ mount, path }) => {
      if (await runStatement(context.db, mount, path)) context.notifyChanged();
      return undefined;
    },
  });
