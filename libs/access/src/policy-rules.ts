import { z } from 'zod';
import { type Capability, capabilities } from './caller.ts';
import { compilePolicies } from './compile-policies.ts';

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

/**
 * What a set of policies grants on a path (relative to the namespace of the policies, without slashes at the ends):
 * the pattern of the highest priority decides alone, with the capabilities that all policies give it together; none
 * when one of them says `deny`. `byPriority` holds the order. For one-off questions; `compilePolicies` for many.
 */
export const capabilitiesOn = (policies: readonly PolicyRules[], path: string): Capability[] => [
  ...compilePolicies(policies).on(path),
];
