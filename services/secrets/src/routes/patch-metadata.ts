import { randomUUID } from 'node:crypto';
import { invalid, notFound, Problem } from '@secrets/domain';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { customMetadata, customMetadataPatch, retentionFields } from '../fields.ts';
import type { MountRef } from '../known-mounts.ts';
import { kvOperation } from '../kv-operation.ts';
import { mergePatch } from '../merge-patch.ts';
import { type MetadataChange, readMetadata, writeMetadata } from '../queries/metadata.ts';

const maxAttempts = 50;

const Patch = z.object({
  max_versions: retentionFields.max_versions.nullable(),
  cas_required: retentionFields.cas_required.nullable(),
  delete_version_after: retentionFields.delete_version_after.nullable(),
  custom_metadata: customMetadataPatch.nullish(),
});
type Patch = z.infer<typeof Patch>;

export const patchMetadata = (context: Context) =>
  kvOperation({
    method: 'patch',
    kind: 'metadata',
    path: 'secret',
    summary: 'merge a patch (RFC 7386) into what stands over a secret; null goes back to the default',
    body: Patch,
    handle: async ({ mount, path, body }) => {
      for (let tries = 0; tries < maxAttempts; tries++) {
        if (await patchOnce(context, mount, path, body)) return undefined;
      }
      throw new Problem('unavailable', 'too many writers of this secret at once; try again');
    },
  });

/** False when the secret changed between reading and writing. */
async function patchOnce(context: Context, mount: MountRef, path: string, patch: Patch): Promise<boolean> {
  const found = await readMetadata(context.db, mount, path);
  if (found === undefined) throw notFound();
  const change: MetadataChange = {
    maxVersions: patch.max_versions === null ? 0 : patch.max_versions,
    casRequired: patch.cas_required === null ? false : patch.cas_required,
    deleteAfterSeconds: patch.delete_version_after === null ? 0 : patch.delete_version_after,
    customMetadata: patchedTexts(found.customMetadata, patch.custom_metadata),
  };
  return writeMetadata(context.db, mount, path, change, {
    secretId: randomUUID(),
    mayCreate: false,
    mayUpdate: true,
    onlyIf: found,
  });
}

function patchedTexts(now: Record<string, string> | null, patch: Patch['custom_metadata']) {
  if (patch === undefined) return undefined;
  if (patch === null) return {};
  const merged = customMetadata.safeParse(mergePatch(now ?? {}, patch));
  if (!merged.success) throw invalid(`custom_metadata: ${merged.error.issues[0]?.message}`);
  return merged.data;
}
