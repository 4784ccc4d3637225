import { type RemoveRequest, rememberedOf } from '@secrets/sync-worker';
import { z } from 'zod';
import type { Store } from './store.ts';

const Remembered = z.object({
  name: z.string(),
  /**
   * When the last put wrote the secret, by the provider's clock. A later `updated_at` of the secret is an edit by someone else. Null if
   * the provider did not say.
   */
  writtenAt: z.iso.datetime().nullable(),
  /** Who sees the secret since the last put; null unless it is one of an organization. */
  access: z.object({ visibility: z.string(), repositories: z.array(z.string()) }).nullable(),
});

/** What is stored about an external secret between two puts. */
export type Remembered = z.infer<typeof Remembered>;

/** Returns what the last put stored; undefined if there was none, or if it was for another external name. */
export const parseRemembered = (request: RemoveRequest): Remembered | undefined =>
  rememberedOf(Remembered, request);

/** What to store about a secret that now agrees with the destination's settings. */
export const remember = (
  { access }: Pick<Store, 'access'>,
  name: string,
  writtenAt: string | null,
): Remembered => ({ name, writtenAt, access: access?.settings ?? null });
