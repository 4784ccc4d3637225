import type { Context } from '../context.ts';
import { findSecrets, type InspectedRow, markAllWatched } from '../queries/watch.ts';
import { presentSecretState } from './present-secret-state.ts';

/** Values in memory at once: each may have 1 MiB. */
const batchSize = 20;

type SecretState = ReturnType<typeof presentSecretState>;

/** The state of each secret; secrets whose value cannot be read are left out, so that one does not hold up the others. */
export async function inspectSecrets(
  context: Context,
  secretIds: readonly string[],
): Promise<readonly SecretState[]> {
  const states: SecretState[] = [];
  for (let start = 0; start < secretIds.length; start += batchSize)
    states.push(...(await inspectBatch(context, secretIds.slice(start, start + batchSize))));
  return states;
}

async function inspectBatch(context: Context, secretIds: readonly string[]): Promise<SecretState[]> {
  const rows = await findSecrets(context.db, secretIds);
  // Only what is associated is inspected. The mark may have been lost with commits, before the association was written.
  const unwatched = rows.filter(({ isWatched }) => !isWatched).map(({ secretId }) => secretId);
  if (unwatched.length > 0) await markAllWatched(context.db, unwatched);
  const byId = new Map(rows.map((row) => [row.secretId, row]));
  return secretIds.flatMap((id) => inspectOne(context, id, byId.get(id.toLowerCase())) ?? []);
}

/** Undefined if the value cannot be read: its state is unknown, and must not be taken for a deleted secret. */
function inspectOne(context: Context, secretId: string, row: InspectedRow | undefined) {
  try {
    return presentSecretState(context.keyRing, secretId, row);
  } catch (error) {
    context.log.error({ error, secretId }, 'a secret was not inspected: its value cannot be read');
    return undefined;
  }
}
