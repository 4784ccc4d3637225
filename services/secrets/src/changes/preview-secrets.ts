import type { Context } from '../context.ts';
import { findSecrets, type InspectedRow } from '../queries/watch.ts';
import { presentSecretState } from './present-secret-state.ts';
import { pushedHashes, pushedSizes } from './preview-secret.ts';

/** Secrets of one request. */
export const maxPreviewed = 100;

/** Values in memory at once: each may have 1 MiB. */
const batchSize = 20;

/**
 * Returns the states of secrets, without subscribing to changes: writes nothing. Secrets that do not exist, or whose value cannot
 * be read, are left out.
 */
export async function previewSecrets(context: Context, ids: readonly string[], options: { hashes: boolean }) {
  const previews: ReturnType<typeof previewOf>[] = [];
  for (let start = 0; start < ids.length; start += batchSize) {
    const rows = await findSecrets(context.db, ids.slice(start, start + batchSize));
    previews.push(...rows.flatMap((row) => previewOne(context, row, options) ?? []));
  }
  return previews;
}

function previewOne(context: Context, row: InspectedRow, options: { hashes: boolean }) {
  try {
    return previewOf(context, row, options);
  } catch (error) {
    context.log.error(
      { error, secretId: row.secretId },
      'a secret was not previewed: its value cannot be read',
    );
    return undefined;
  }
}

const previewOf = ({ keyRing }: Context, row: InspectedRow, { hashes }: { hashes: boolean }) => ({
  ...presentSecretState(keyRing, row.secretId, row),
  ...pushedSizes(keyRing, row),
  ...(hashes ? pushedHashes(keyRing, row) : {}),
});
