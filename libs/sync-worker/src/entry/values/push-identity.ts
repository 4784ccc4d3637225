import { createHash } from 'node:crypto';
import type { ClaimedEntry, EntryContext } from '@secrets/sync-entries';

/**
 * Returns the same token for the same entry, intent and value, so that the provider recognises a put that is repeated
 * after a crash. The intent is part of it, so that a value that returns later (A, B, A) is not mistaken for the old one.
 */
export const idempotencyToken = (entry: Pick<ClaimedEntry, 'id' | 'generation'>, valueHash: string): string =>
  createHash('sha256').update(`${entry.id}:${entry.generation}:${valueHash}`).digest('hex');

/** Changes with the destination's settings, so that a change of tags and the like is pushed to unchanged values too. */
export const settingsHash = (destination: EntryContext['destination']): string =>
  createHash('sha256').update(JSON.stringify(destination.settings)).digest('base64url');
