import { type RemoveRequest, rememberedOf } from '@secrets/sync-worker';
import { z } from 'zod';

const Remembered = z.object({
  name: z.string(),
  /** The name alone does not show that the secret is still the same one. */
  createTime: z.string(),
  /** The labels that the last put set, and that a later one may therefore remove. */
  labels: z.record(z.string(), z.string()),
  /** The number and the etag of the version that has the value; the etag is empty if it is not known. */
  version: z.number(),
  versionEtag: z.string(),
  /** The number of the oldest version that this entry has added and that may not be destroyed yet. */
  oldest: z.number(),
  /** The locations of its replicas, sorted; empty for an automatic replication. */
  locations: z.array(z.string()),
  /** What the destination's owner should know although the secret is synced. */
  notice: z.string().nullable(),
});

/** What is stored about an external secret between two puts. */
export type Remembered = z.infer<typeof Remembered>;

/** Returns what the last put stored; undefined if there was none, or if it was for another external name. */
export const parseRemembered = (request: RemoveRequest): Remembered | undefined =>
  rememberedOf(Remembered, request);
