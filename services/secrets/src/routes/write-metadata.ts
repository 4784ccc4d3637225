import { randomUUID } from 'node:crypto';
import type { Caller } from '@secrets/caller';
import { Problem, permissionDenied } from '@secrets/domain';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { customMetadata, retentionFields } from '../fields.ts';
import { kvOperation } from '../kv-operation.ts';
import { writeMetadata as runStatement } from '../queries/metadata.ts';
import { readWriteState } from '../queries/write-state.ts';

const maxAttempts = 8;

export const writeMetadata = (context: Context) =>
  kvOperation({
    method: 'post',
    kind: 'metadata',
    path: 'secret',
    summary: 'set what stands over a secret, also before its first version; what is left out stays',
    body: z.object({ ...retentionFields, custom_metadata: customMetadata.optional() }),
    handle: async ({ mount, path, body, caller }) => {
      const change = {
        maxVersions: body.max_versions,
        casRequired: body.cas_required,
        deleteAfterSeconds: body.delete_version_after,
        customMetadata: body.custom_metadata,
      };
      const conditions = { ...grantsOf(caller), secretId: randomUUID(), onlyIf: null };
      for (let tries = 0; tries < maxAttempts; tries++) {
        if (await runStatement(context.db, mount, path, change, conditions)) return undefined;
        const { exists } = await readWriteState(context.db, mount, path);
        if (!(exists ? conditions.mayUpdate : conditions.mayCreate)) throw permissionDenied();
      }
      throw new Problem('unavailable', 'too many writers of this secret at once; try again');
    },
  });

const grantsOf = ({ grants }: Caller) => ({
  mayCreate: grants.includes('create'),
  mayUpdate: grants.includes('update'),
});
