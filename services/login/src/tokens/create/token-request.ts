import { generatedPrefix, tokenKind } from '@secrets/access';
import { flag, seconds, stringMap } from '@secrets/http';
import { z } from 'zod';
import { cidrList, count, policyNames } from '../token-fields.ts';

/** Maximum size of a token's metadata, as JSON. */
const maxMetadataCharacters = 8_192;

/**
 * Undefined, which inherits, only for an empty list. Blank names are dropped from the list without making it an empty
 * one: a template variable without a value must not create a token with all policies of its parent.
 */
const requestedPolicies = policyNames.in
  .transform((given) => (Array.isArray(given) && given.length === 0 ? undefined : given))
  .pipe(policyNames.optional())
  .meta({ type: 'array', maxItems: 50, items: { type: 'string', maxLength: 80 } });

/** The body of `auth/token/create` (docs/conventions/access.md#tokens). */
export const TokenRequest = z.object({
  id: z
    .string()
    .refine((id) => id === '' || (tokenKind(id) === 'service' && !id.startsWith(generatedPrefix)), {
      error: `must have 20 to 256 printable ASCII characters without spaces, and not begin with ${generatedPrefix}`,
    })
    .meta({ pattern: '^([!-rt-~][!-~]{19,255})?$' })
    .optional(),
  entity_alias: z.literal('', { error: 'is not supported: only logins assign entities' }).optional(),
  policies: requestedPolicies.optional(),
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
