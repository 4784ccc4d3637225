import { capabilities } from '@secrets/caller';
import type { Json } from '@secrets/domain';
import { z } from 'zod';
import { EventTypes } from './event-types.ts';
import { isBalanced, plusSegments } from './path-templates.ts';

/** Each takes time whenever a path is compared. Policies that are older than this limit may have more. */
export const maxPlusSegments = 32;

const PolicyPath = z
  .string()
  .min(1, 'a policy path must not be empty')
  .max(1024, 'a policy path must have at most 1024 characters')
  .refine(
    (path) => !path.slice(0, -1).includes('*'),
    'a policy path may contain * only as its last character',
  )
  .refine((path) => !/(^|\/)\+\*$/.test(path), 'a policy path must not end in a segment +*')
  .refine(
    (path) => plusSegments(path) <= maxPlusSegments,
    `a policy path may contain at most ${maxPlusSegments} segments +`,
  )
  .refine(isBalanced, 'a template must begin with {{ and end with }}');

/** Values by parameter. An empty list means any value. */
const ParameterValues = z.record(z.string(), z.array(z.json() as z.ZodType<Json>));

/** The restrictions of a rule are absent unless its author wrote some. */
const PathRule = z.object({
  path: PolicyPath,
  capabilities: z.array(z.enum(capabilities)),
  allowed_parameters: ParameterValues.optional(),
  denied_parameters: ParameterValues.optional(),
  required_parameters: z.array(z.string()).optional(),
  /** In seconds. */
  min_wrapping_ttl: z.number().optional(),
  max_wrapping_ttl: z.number().optional(),
  /**
   * Present if the rule has the capability `subscribe`, which is not in `capabilities`: gateways of the version before would not
   * accept a policy that has it there.
   */
  subscribe_event_types: EventTypes.optional(),
});
export type PathRule = z.infer<typeof PathRule>;

/** A policy in the form in which it is evaluated and stored in `login.policies.rules`. */
export const PolicyRules = z.object({ paths: z.array(PathRule) });
export type PolicyRules = z.infer<typeof PolicyRules>;
