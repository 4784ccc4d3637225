import { z } from 'zod';
import type { Context } from '../../context.ts';
import { changeVersions } from '../../kv/versions/change-versions.ts';
import type { VersionChange } from '../../queries/versions/update-versions.ts';
import { versionList } from './fields.ts';
import { type KvEndpoint, kvEndpoint, SecretParams } from './kv-endpoint.ts';

/** `<mount>/delete/<path>`, `undelete` and `destroy` (docs/conventions/secrets.md#versions). */
export const versionsEndpoints = (context: Context): KvEndpoint[] => [
  changeTo(context, 'delete', 'Delete versions of a secret; they can be undeleted'),
  changeTo(context, 'undelete', 'Make deleted versions of a secret readable again'),
  changeTo(context, 'destroy', 'Destroy the values of versions of a secret permanently'),
];

const changeTo = (context: Context, change: VersionChange, summary: string) =>
  kvEndpoint({
    method: 'post',
    path: `/${change}/*path`,
    summary,
    params: SecretParams,
    body: z.object({ versions: versionList }),
    handle: ({ mount, params, body }) => changeVersions(context, mount, params.path, change, body.versions),
  });
