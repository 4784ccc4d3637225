import { invalid } from '@secrets/domain';
import { cutToPage, requireNonEmpty } from '@secrets/http';
import { z } from 'zod';
import type { Context } from '../../context.ts';
import { mergePatch } from '../../kv/merge-patch.ts';
import { patchMetadata } from '../../kv/metadata/patch-metadata.ts';
import { presentMetadata } from '../../kv/metadata/present-metadata.ts';
import { removeMetadata } from '../../kv/metadata/remove-metadata.ts';
import { requireMetadata } from '../../kv/metadata/require-metadata.ts';
import { saveMetadata } from '../../kv/metadata/save-metadata.ts';
import { retentionChange, retentionFields } from '../../mounts/retention.ts';
import { listFolder } from '../../queries/list-folder.ts';
import type { MetadataChange, MetadataRow, WrittenMetadata } from '../../queries/metadata.ts';
import { Page } from '../list-page.ts';
import { customMetadata, customMetadataPatch, MergedMetadata } from './fields.ts';
import { FolderParams, type KvEndpoint, kvEndpoint, NewSecretParams, SecretParams } from './kv-endpoint.ts';

/** In a merge patch, null restores the default of a field. */
const MetadataPatch = z.object({
  max_versions: retentionFields.max_versions.nullable(),
  cas_required: retentionFields.cas_required.nullable(),
  delete_version_after: retentionFields.delete_version_after.nullable(),
  custom_metadata: customMetadataPatch.nullish(),
});
type MetadataPatch = z.infer<typeof MetadataPatch>;

const path = '/metadata/*path';

/** `<mount>/metadata/<path>` (docs/conventions/secrets.md#values). */
export const metadataEndpoints = (context: Context): KvEndpoint[] => [
  listSecrets(context),
  readSecretMetadata(context),
  writeSecretMetadata(context),
  patchSecretMetadata(context),
  deleteSecretMetadata(context),
];

const listSecrets = (context: Context) =>
  kvEndpoint({
    method: 'list',
    path,
    summary: 'List the secrets in a folder; subfolders end with a slash',
    params: FolderParams,
    query: Page,
    handle: async ({ mount, params, query, warn }) => {
      const { after = '', limit } = query;
      const range = { after, limit: limit + 1 };
      const names = requireNonEmpty(await listFolder(context.db, mount, params.path, range));
      return { data: { keys: cutToPage(names, limit, (after) => ({ after }), warn) } };
    },
  });

const readSecretMetadata = (context: Context) =>
  kvEndpoint({
    method: 'get',
    path,
    summary: 'Read the metadata of a secret and of its versions',
    params: SecretParams,
    handle: async ({ mount, params }) => ({
      data: presentMetadata(await requireMetadata(context, mount, params.path)),
    }),
  });

const writeSecretMetadata = (context: Context) =>
  kvEndpoint({
    method: 'post',
    path,
    summary:
      'Create or update the metadata of a secret, even before its first version; omitted fields keep their values',
    needs: 'create or update',
    params: NewSecretParams,
    body: z.object({ ...retentionFields, custom_metadata: customMetadata.nullish() }),
    handle: async ({ mount, params, body, caller, warn }) => {
      const custom = body.custom_metadata === null ? {} : body.custom_metadata;
      const change = { ...retentionChange(body), customMetadata: custom };
      const written = await saveMetadata(context, caller, mount, params.path, change);
      warnIfOverruled(change, written, warn);
    },
  });

const patchSecretMetadata = (context: Context) =>
  kvEndpoint({
    method: 'patch',
    path,
    summary: 'Update the metadata of a secret (merge patch); null restores a default',
    params: SecretParams,
    body: MetadataPatch,
    handle: async ({ mount, params, body, warn }) => {
      const merge = (stored: MetadataRow) => patchedMetadata(stored, body);
      const written = await patchMetadata(context, mount, params.path, merge);
      warnIfOverruled({ casRequired: body.cas_required ?? undefined }, written, warn);
    },
  });

function warnIfOverruled(
  { casRequired }: MetadataChange,
  { mountRequiresCas }: WrittenMetadata,
  warn: (sentence: string) => void,
): void {
  if (casRequired === false && mountRequiresCas)
    warn('cas_required: false has no effect, because the mount requires check-and-set');
}

const deleteSecretMetadata = (context: Context) =>
  kvEndpoint({
    method: 'delete',
    path,
    summary: 'Delete a secret with all of its versions permanently',
    params: SecretParams,
    handle: ({ mount, params }) => removeMetadata(context, mount, params.path),
  });

const patchedMetadata = (stored: MetadataRow, patch: MetadataPatch): MetadataChange => ({
  maxVersions: patch.max_versions === null ? 0 : patch.max_versions,
  casRequired: patch.cas_required === null ? false : patch.cas_required,
  deleteAfterSeconds: patch.delete_version_after === null ? 0 : patch.delete_version_after,
  customMetadata: patchedCustomMetadata(stored.customMetadata, patch.custom_metadata),
});

function patchedCustomMetadata(
  stored: Record<string, string> | null,
  patch: MetadataPatch['custom_metadata'],
): Record<string, string> | undefined {
  if (patch === undefined) return undefined;
  if (patch === null) return {};
  const merged = MergedMetadata.safeParse(mergePatch(stored ?? {}, patch));
  if (!merged.success) throw invalid(`custom_metadata: ${merged.error.issues[0]?.message}`);
  return merged.data;
}
