import type { RemoveRequest } from '@secrets/sync-worker';
import { z } from 'zod';
import type { FoundSecret } from '../api/schema.ts';
import type { Store } from './store.ts';

const Remembered = z.object({
  name: z.string(),
  /**
   * When the last put wrote the secret, by the provider's clock. A later `updated_at` of the secret is an edit by
   * someone else, and a later `created_at` is another secret. Null if the provider did not say, or if a later put may
   * have created the secret again.
   */
  writtenAt: z.iso.datetime().nullable(),
  /** Who sees the secret since the last put; null unless it is one of an organization. */
  access: z.object({ visibility: z.string(), repositories: z.array(z.string()) }).nullable(),
  /** The ID of the place that the last put has written to; null or absent if it was not known. */
  place: z.string().nullable().default(null),
});

/** State of an external secret that is stored between two puts. */
export type Remembered = z.infer<typeof Remembered>;

/** Returns what the last put stored; undefined if there was none, or if it was for another external name or place. */
export function parseRemembered(
  { scope }: Pick<Store, 'scope'>,
  request: RemoveRequest,
): Remembered | undefined {
  if (isElsewhere({ scope }, request)) return undefined;
  // The provider stores names in upper case, so another spelling is the same secret.
  const { success, data } = Remembered.safeParse(request.remote);
  return success && data.name.toUpperCase() === request.externalName.toUpperCase() ? data : undefined;
}

/** Whether the last put has written to another place than the destination's. */
export function isElsewhere({ scope }: Pick<Store, 'scope'>, { remote }: RemoveRequest): boolean {
  const place = Remembered.pick({ place: true }).safeParse(remote).data?.place ?? null;
  const { id } = scope.place;
  return place !== null && id !== null && place !== id;
}

/** Returns the state to store for a secret that now agrees with the destination's settings. */
export const remember = (
  { access, scope }: Pick<Store, 'access' | 'scope'>,
  name: string,
  writtenAt: string | null,
): Remembered => ({ name, writtenAt, access: access?.settings ?? null, place: scope.place.id });

/** By how much the provider's times of one write may differ: a response and a secret are dated by different machines. */
const maxSkewMs = 5_000;

/**
 * Whether somebody else has created the secret since the last put, which has overwritten every earlier one: a write of an
 * existing secret keeps the time of its creation.
 */
export const isCreatedAgain = ({ created_at }: FoundSecret, { writtenAt }: Remembered): boolean =>
  writtenAt !== null && Date.parse(created_at) > Date.parse(writtenAt) + maxSkewMs;
