import { type RemoveRequest, rememberedOf } from '@secrets/sync-worker';
import { z } from 'zod';

const OwnVersion = z.object({ number: z.number(), etag: z.string() });

const Remembered = z.object({
  name: z.string(),
  /** The name alone does not show that the secret is still the same one. */
  createTime: z.string(),
  /** The etag that the secret had after the last put; empty if that did not record it. */
  etag: z.string().default(''),
  /** The labels that the last put set, and that a later one may therefore remove. */
  labels: z.record(z.string(), z.string()),
  /** The versions that this entry has added and has not destroyed yet, oldest first. */
  ours: z.array(OwnVersion),
  /** The number of the newest version that the last put has found or added. */
  current: z.number().default(0),
  /** The version that a put was about to add, after all versions up to this number; null if its outcome is known. */
  started: z.object({ after: z.number(), hash: z.string() }).nullable(),
  /** The locations of its replicas, sorted; empty for an automatic replication. */
  locations: z.array(z.string()),
  /** The keys with which the provider encrypts it, by location. */
  keys: z.record(z.string(), z.string()).default({}),
  /** Those that the destination had at the last put; null if that did not record them. */
  setKeys: z.record(z.string(), z.string()).nullable().default(null),
  /** Whether the newest version may have been added before the keys were changed. */
  keysChanged: z.boolean().default(false),
  /** What the destination's owner should know although the secret is synced. */
  notice: z.string().nullable(),
});

/** State of an external secret that is stored between two puts. */
export type Remembered = z.output<typeof Remembered>;

/** The keys that the last put has set. */
export const setKeysOf = ({ setKeys, keys }: Remembered): Readonly<Record<string, string>> => setKeys ?? keys;

/**
 * The number below which the newest version cannot be: a read that shows a lower one is older than what is remembered.
 * 0 if nothing is.
 */
export const currentOf = (known: Remembered | undefined): number =>
  Math.max(known?.current ?? 0, ...(known?.ours ?? []).map(({ number }) => number));

/** Returns what the last put stored; undefined if there was none, or if it was for another external name. */
export const parseRemembered = (request: RemoveRequest): Remembered | undefined =>
  rememberedOf(Remembered, request);
