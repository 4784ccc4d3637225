import { z } from 'zod';
import { faultKinds } from './fault.ts';

/** One step of a check of a destination (docs/conventions/sync-operation.md#check-and-plan). */
export const CheckStep = z.object({
  step: z.enum(['connect', 'create', 'change', 'remove']),
  result: z.enum(['ok', 'failed', 'not_checked']),
  /** Why it failed; null for an internal error, and if it did not fail. */
  fault: z.enum(faultKinds).nullable(),
  /** The service's own sentence. */
  message: z.string().nullable(),
});
export type CheckStep = z.infer<typeof CheckStep>;
