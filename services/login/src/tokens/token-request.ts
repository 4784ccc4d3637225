import { flag, integer, seconds, stringList, stringMap } from '@secrets/http';
import { z } from 'zod';
import { isAddressRange } from './address-range.ts';

/** Most characters of a token's metadata, names and values together. */
const maxMetadataCharacters = 8_192;

/** Each is parsed, which takes some 30 µs, for requests and logins whose token or role is not in memory. */
const maxCidrs = 100;

/** A list of CIDRs or single addresses. */
export const cidrList = stringList
  .refine((list) => list.length <= maxCidrs, {
    error: `must hold at most ${maxCidrs} CIDRs or addresses`,
    abort: true,
  })
  .refine((list) => list.every(isAddressRange), { error: 'must hold CIDRs or addresses' });

/** A count that is not negative. */
export const count = integer.refine((value) => value >= 0 && value <= 2_147_483_647, {
  error: 'must not be negative',
});

/** Names of policies travel in the assertion of each request and stand in each line of the audit: so many characters together. */
const maxPolicyCharacters = 4_096;
/** What they hold is read and evaluated together. */
const maxPolicies = 50;

/** A list of names of policies. */
export const policyNames = stringList
  .refine((list) => list.length <= maxPolicies, {
    error: `must hold at most ${maxPolicies} names`,
    abort: true,
  })
  .refine((list) => list.join(',').length <= maxPolicyCharacters, {
    error: `must have at most ${maxPolicyCharacters} characters together`,
  });

/** The body of `auth/token/create` (docs/conventions.md#21-tokens). */
export const TokenRequest = z.object({
  policies: policyNames.optional(),
  ttl: seconds.optional(),
  max_ttl: seconds.optional(),
  explicit_max_ttl: seconds.optional(),
  period: seconds.optional(),
  num_uses: count.optional(),
  bound_cidrs: cidrList.optional(),
  meta: stringMap
    .refine((meta) => JSON.stringify(meta).length <= maxMetadataCharacters, { error: 'is too large' })
    .optional(),
  display_name: z
    .string()
    .max(256)
    .regex(/^[\x20-\x7e]*$/, 'must be printable ASCII')
    .optional(),
  no_parent: flag.optional(),
  no_default_policy: flag.optional(),
  renewable: flag.optional(),
  type: z.enum(['service', 'batch'], { error: 'must be service or batch' }).optional(),
});
export type TokenRequest = z.infer<typeof TokenRequest>;
