import { createHash } from 'node:crypto';
import type { ClaimedEntry, EntryContext } from '@secrets/sync-entries';

/**
 * What an external secret holds, from the secret's data as JSON text: all of it, or at secret-key granularity one
 * key, a string as it is and anything else as JSON. Undefined when the key is not there.
 */
export function pushedValue(dataText: string, subKey: string): string | undefined {
  if (subKey === '') return dataText;
  const data = JSON.parse(dataText) as Record<string, unknown>;
  if (!Object.hasOwn(data, subKey)) return undefined;
  const value = data[subKey];
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/**
 * The same for the same entry, intent and value: a put that is repeated after a crash is recognised by the provider.
 * It names the intent, so that a value that comes back later (A, B, A) is not taken for the old one.
 */
export const idempotencyToken = (entry: Pick<ClaimedEntry, 'id' | 'generation'>, valueHash: string): string =>
  createHash('sha256').update(`${entry.id}:${entry.generation}:${valueHash}`).digest('hex');

/** Changes whenever the destination's settings do: then tags and the like are brought up to date. */
export const settingsHash = (destination: EntryContext['destination']): string =>
  createHash('sha256').update(JSON.stringify(destination.settings)).digest('base64url');
