import type { Json } from '@secrets/domain';
import { type RemoveRequest, rememberedOf } from '@secrets/sync-worker';
import { z } from 'zod';

const Remembered = z.object({
  name: z.string(),
  /** The size of the value that was last pushed. */
  bytes: z.number(),
  /** The settings for which it was pushed. */
  gitBranch: z.string().default(''),
  isSensitive: z.boolean().default(false),
  /** Usually one. */
  records: z.array(
    z.object({
      id: z.string(),
      /** The environments of the record that are the destination's. Somebody may have added others. */
      target: z.array(z.string()),
      /** The provider's time of the last change; null if it does not state one. */
      updatedAt: z.number().nullable(),
    }),
  ),
});

/** State of a variable that is stored between two puts. */
export type Remembered = z.infer<typeof Remembered>;
export type RememberedRecord = Remembered['records'][number];

/** Returns what the last put stored; undefined if there was none, or if it was for another external name. */
export const parseRemembered = (request: RemoveRequest): Remembered | undefined =>
  rememberedOf(Remembered, request);

/** The environments of all records. */
export const targetsOf = ({ records }: Remembered): string[] => records.flatMap(({ target }) => target);

/** Returns the records of what a put has stored, by their IDs, with the size of the value; none if it is not of this form. */
export function writtenBytes(remote: Json): [id: string, bytes: number][] {
  const { records = [], bytes = 0 } = Remembered.safeParse(remote).data ?? {};
  return records.map(({ id }) => [id, bytes]);
}
