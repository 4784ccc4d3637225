import { capabilities } from '@secrets/caller';
import { z } from 'zod';

const PolicyPath = z
  .string()
  .min(1, 'a policy path must not be empty')
  .max(1024, 'a policy path has at most 1024 characters')
  .refine((path) => !path.slice(0, -1).includes('*'), 'a policy path holds * only as its last character')
  .refine((path) => !/(^|\/)\+\*$/.test(path), 'a policy path does not hold + and * side by side');

/** A policy as it is evaluated; `login.policies.rules` holds it. */
export const PolicyRules = z.object({
  paths: z.array(z.object({ path: PolicyPath, capabilities: z.array(z.enum(capabilities)) })),
});
export type PolicyRules = z.infer<typeof PolicyRules>;
