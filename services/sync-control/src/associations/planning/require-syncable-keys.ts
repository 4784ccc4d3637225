import { invalid } from '@secrets/domain';
import type { DestinationRow } from '../../queries/destinations/destinations.ts';
import { whyNoSubKey, whyTooManyKeys } from './wanted-entries.ts';

/** Throws `invalid` if the destination syncs single keys and this secret has too many, or one that can never be synced. */
export function requireSyncableKeys(
  { keys }: { keys: readonly string[] },
  { mount, secretName }: { mount: string; secretName: string },
  { settings }: Pick<DestinationRow, 'settings'>,
): void {
  if (settings.granularity !== 'secret-key') return;
  const tooMany = whyTooManyKeys(keys);
  if (tooMany !== undefined) throw invalid(`secret_name: ${secretName} in mount ${mount} has ${tooMany}`);
  const why = keys.map(whyNoSubKey).find((reason) => reason !== undefined);
  if (why !== undefined) throw invalid(`secret_name: ${secretName} in mount ${mount} has ${why}`);
}
