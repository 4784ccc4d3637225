import { endpoint } from '@secrets/http';
import { SealError } from '@secrets/seal';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { presentSecretState } from '../present-secret-state.ts';
import { type InspectedRow, inspectSecrets as query } from '../queries/watch.ts';

/** Values read at once: each may be 1 MiB. */
const atOnce = 20;

export const inspectSecrets = (context: Context) =>
  endpoint({
    method: 'post',
    path: '/internal/secrets/inspect',
    summary:
      'how secrets stand: whether something of each can be read, and its top-level keys; what is left out is unknown',
    from: 'sync-control',
    body: z.object({ secret_ids: z.array(z.uuid()).max(500) }),
    handle: async ({ body }) => {
      const secrets = [];
      for (let start = 0; start < body.secret_ids.length; start += atOnce)
        secrets.push(...(await inspectSome(context, body.secret_ids.slice(start, start + atOnce))));
      return { data: { secrets } };
    },
  });

async function inspectSome(context: Context, secretIds: readonly string[]) {
  const rows = await query(context.db, secretIds);
  const byId = new Map(rows.map((row) => [row.secretId, row]));
  return secretIds.flatMap((id) => inspectOne(context, id, byId.get(id.toLowerCase())) ?? []);
}

/** Undefined for a value that does not open: nothing is known of it then, and whoever asks must not act as if it were gone. */
function inspectOne(context: Context, secretId: string, row: InspectedRow | undefined) {
  try {
    return presentSecretState(context.keyRing, secretId, row);
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    context.log.error({ error, secretId }, 'a secret cannot be inspected because its value does not open');
    return undefined;
  }
}
