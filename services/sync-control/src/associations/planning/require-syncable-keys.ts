import { invalid } from '@secrets/domain';
import type { DestinationRow } from '../../queries/destinations/destinations.ts';
import { whyNoSubKey, whyNoValue, whyTooManyKeys } from './wanted-entries.ts';

/**
 * Throws `invalid` if the destination syncs single keys and this secret has too many, or one that can never be synced; or if the
 * destination pushes the value of one key, which this secret does not have.
 */
export function requireSyncableKeys(
  { keys }: { keys: readonly string[] },
  { mount, secretName }: { mount: string; secretName: string },
  { settings }: Pick<DestinationRow, 'settings'>,
): void {
  const why =
    settings.granularity === 'secret-key'
      ? (whyTooManyKeys(keys) ?? keys.map(whyNoSubKey).find((reason) => reason !== undefined))
      : whyNoValue(keys, settings);
  if (why !== undefined) throw invalid(`secret_name: ${secretName} in mount ${mount} has ${why}`);
}
