import { type RemoveRequest, rememberedOf } from '@secrets/sync-worker';
import { z } from 'zod';

const Remembered = z.object({
  name: z.string(),
  /** The ID of the version that the last put left as the newest. */
  version: z.string(),
  /** The tags that the last put set, and that a later one may therefore remove. */
  tags: z.record(z.string(), z.string()),
  /** The content type that the last put set; empty if it set none. */
  contentType: z.string().default(''),
  /** The expiry that the last put set, in milliseconds since 1970, and how long after the version; null if it set none. */
  expiry: z.object({ at: z.number(), after: z.number() }).nullable().default(null),
  /**
   * When the version was last changed, by the vault's clock, in seconds since 1970. Null until a look has found it so long ago
   * that every later change has another time.
   */
  updated: z.number().nullable().default(null),
});

/** State of an external secret that is stored between two puts. */
export type Remembered = z.output<typeof Remembered>;

/** Returns what the last put stored; undefined if there was none, or if it was for another external name. */
export const parseRemembered = (request: RemoveRequest): Remembered | undefined =>
  rememberedOf(Remembered, request);
