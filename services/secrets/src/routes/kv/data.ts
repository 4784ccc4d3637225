import { SecretData } from '@secrets/domain';
import type { Reply } from '@secrets/http';
import { seal } from '@secrets/seal';
import { z } from 'zod';
import type { Context } from '../../context.ts';
import { presentVersion } from '../../kv/metadata/present-metadata.ts';
import { patchVersion } from '../../kv/versions/patch-version.ts';
import { readValue } from '../../kv/versions/read-value.ts';
import { removeNewestVersion } from '../../kv/versions/remove-newest-version.ts';
import { saveVersion } from '../../kv/versions/save-version.ts';
import type { VersionRow } from '../../queries/versions/find-version.ts';
import { versionNumber, WriteOptions } from './fields.ts';
import { type KvEndpoint, kvEndpoint, NewSecretParams, SecretParams } from './kv-endpoint.ts';

const DataBody = z.object({ data: SecretData.transform(seal), options: WriteOptions });

const path = '/data/*path';

/** `<mount>/data/<path>` (docs/conventions/secrets.md#versions). */
export const dataEndpoints = (context: Context): KvEndpoint[] => [
  readData(context),
  writeData(context),
  patchData(context),
  deleteData(context),
];

const readData = (context: Context) =>
  kvEndpoint({
    method: 'get',
    path,
    summary: 'Read a version of a secret, by default the newest one',
    params: SecretParams,
    query: z.object({ version: versionNumber.default(0) }),
    handle: async ({ mount, params, query }) => {
      const { stored, value } = await readValue(context, mount, params.path, query.version);
      if (value === undefined) return unreadable(stored);
      return { data: { data: value.reveal(), metadata: presentVersion(stored) } };
    },
  });

const writeData = (context: Context) =>
  kvEndpoint({
    method: 'post',
    path,
    summary: 'Write a new version of a secret',
    needs: 'create or update',
    params: NewSecretParams,
    body: DataBody,
    handle: async ({ mount, params, body, caller }) => {
      const version = { value: body.data, cas: body.options?.cas ?? null };
      const written = await saveVersion(context, caller, mount, params.path, version);
      return { data: presentVersion(written) };
    },
  });

const patchData = (context: Context) =>
  kvEndpoint({
    method: 'patch',
    path,
    summary: 'Update a secret (merge patch): write the result as a new version; null removes a key',
    params: SecretParams,
    body: DataBody,
    handle: async ({ mount, params, body }) => {
      const patch = { patch: body.data, cas: body.options?.cas ?? null };
      const result = await patchVersion(context, mount, params.path, patch);
      return 'unreadable' in result
        ? unreadable(result.unreadable)
        : { data: presentVersion(result.written) };
    },
  });

const deleteData = (context: Context) =>
  kvEndpoint({
    method: 'delete',
    path,
    summary: 'Delete the newest version of a secret; it can be undeleted',
    params: SecretParams,
    handle: ({ mount, params }) => removeNewestVersion(context, mount, params.path),
  });

/** A deleted or destroyed version (docs/conventions/secrets.md#versions). */
const unreadable = (stored: VersionRow): Reply => ({
  status: 404,
  data: { data: null, metadata: presentVersion(stored) },
});
