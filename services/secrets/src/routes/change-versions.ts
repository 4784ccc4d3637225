import { permissionDenied } from '@secrets/domain';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { versionList } from '../fields.ts';
import { kvOperation } from '../kv-operation.ts';
import { changeVersions, type VersionChange } from '../queries/change-versions.ts';

const summaries: Record<VersionChange, string> = {
  delete: 'delete versions; they can be undeleted',
  undelete: 'make deleted versions readable again',
  destroy: 'destroy the values of versions for good',
};

/** POST on `delete/`, `undelete/` or `destroy/`: changes what exists, so it wants `update`. */
export const changeVersionsOf = (context: Context, change: VersionChange) =>
  kvOperation({
    method: 'post',
    kind: change,
    path: 'secret',
    summary: summaries[change],
    body: z.object({ versions: versionList }),
    handle: async ({ mount, path, body, caller }) => {
      if (!caller.grants.includes('update')) throw permissionDenied();
      if (await changeVersions(context.db, mount, path, change, body.versions)) context.notifyChanged();
      return undefined;
    },
  });
