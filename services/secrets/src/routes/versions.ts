import { requireCapability } from '@secrets/caller';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { changeVersions, type VersionChange } from '../queries/change-versions.ts';
import { versionList } from './fields.ts';
import { type KvEndpoint, kvEndpoint, SecretParams } from './kv-endpoint.ts';

export const versionsEndpoints = (context: Context): KvEndpoint[] => [
  versionsEndpoint(context, 'delete', 'delete versions; they can be undeleted'),
  versionsEndpoint(context, 'undelete', 'make deleted versions readable again'),
  versionsEndpoint(context, 'destroy', 'destroy the values of versions permanently'),
];

/** These endpoints change existing versions, so they need `update` although the method is POST. */
const versionsEndpoint = (context: Context, change: VersionChange, summary: string) =>
  kvEndpoint({
    method: 'post',
    path: `/${change}/*path`,
    summary,
    params: SecretParams,
    body: z.object({ versions: versionList }),
    handle: async ({ mount, params, body, caller }) => {
      requireCapability(caller, 'update');
      const eventQueued = await changeVersions(context.db, mount, params.path, change, body.versions);
      if (eventQueued) context.notifyChanged();
      return undefined;
    },
  });
