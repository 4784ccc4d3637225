import type { z } from 'zod';
import type { RemoveRequest } from './driver.ts';

/**
 * Returns what the last put stored; undefined if there was none, if it does not have this form, or if it was for another
 * external name, which it stores as `name`.
 */
export function rememberedOf<Remembered extends { name: string }>(
  schema: z.ZodType<Remembered>,
  { remote, externalName }: RemoveRequest,
): Remembered | undefined {
  const parsed = schema.safeParse(remote);
  return parsed.success && parsed.data.name === externalName ? parsed.data : undefined;
}
