import { type RemoveRequest, rememberedOf } from '@secrets/sync-worker';
import { z } from 'zod';

const Remembered = z.object({
  name: z.string(),
  /** The ID of the version that the last put left as the newest. */
  version: z.string(),
  /** The tags that the last put set, and that a later one may therefore remove. */
  tags: z.record(z.string(), z.string()),
});

/** State of an external secret that is stored between two puts. */
export type Remembered = z.infer<typeof Remembered>;

/** Returns what the last put stored; undefined if there was none, or if it was for another external name. */
export const parseRemembered = (request: RemoveRequest): Remembered | undefined =>
  rememberedOf(Remembered, request);
