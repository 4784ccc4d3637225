import { capabilities } from '@secrets/caller';
import { z } from 'zod';

const PolicyPath = z
  .string()
  .min(1, 'a policy path must not be empty')
  .max(1024, 'a policy path must have at most 1024 characters')
  .refine(
    (path) => !path.slice(0, -1).includes('*'),
    'a policy path may contain * only as its last character',
  )
  .refine((path) => !/(^|\/)\+\*$/.test(path), 'a policy path must not end in a segment +*');

/** A policy in the form in which it is evaluated and stored in `login.policies.rules`. */
export const PolicyRules = z.object({
  paths: z.array(z.object({ path: PolicyPath, capabilities: z.array(z.enum(capabilities)) })),
});
export type PolicyRules = z.infer<typeof PolicyRules>;
