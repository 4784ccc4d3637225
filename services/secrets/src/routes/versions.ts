import { z } from 'zod';
import type { Context } from '../context.ts';
import { changeVersions } from '../kv/change-versions.ts';
import type { VersionChange } from '../queries/update-versions.ts';
import { versionList } from './fields.ts';
import { type KvEndpoint, kvEndpoint, SecretParams } from './kv-endpoint.ts';

export const versionsEndpoints = (context: Context): KvEndpoint[] => [
  versionsEndpoint(context, 'delete', 'Delete versions; they can be undeleted'),
  versionsEndpoint(context, 'undelete', 'Make deleted versions readable again'),
  versionsEndpoint(context, 'destroy', 'Destroy the values of versions permanently'),
];

const versionsEndpoint = (context: Context, change: VersionChange, summary: string) =>
  kvEndpoint({
    method: 'post',
    path: `/${change}/*path`,
    summary,
    params: SecretParams,
    body: z.object({ versions: versionList }),
    handle: async ({ mount, params, body }) => {
      await changeVersions(context, mount, params.path, change, body.versions);
      return undefined;
    },
  });
