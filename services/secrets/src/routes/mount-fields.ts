import { withoutNul } from '@secrets/domain';
import { z } from 'zod';
import { retentionChange, retentionFields } from '../mounts/retention.ts';
import type { MountChange } from '../queries/change-mounts.ts';
import { isStorable } from '../storable-text.ts';

export const mountType = z
  .string()
  .refine((given) => given !== 'kv-v1', {
    error: 'version 1 of the key-value store is not supported; mount kv-v2',
  })
  .refine((given) => ['kv', 'kv-v1', 'kv-v2'].includes(given), { error: 'must be kv' })
  .meta({ enum: ['kv', 'kv-v2'] });

const version = z
  .union([z.string(), z.number()])
  .transform(String)
  .refine((given) => given !== '1', {
    error: 'version 1 of the key-value store is not supported; mount version 2',
  })
  .refine((given) => ['1', '2'].includes(given), { error: 'must be 2' })
  .meta({ enum: ['2', 2] });

/** The settings of a mount. */
export const mountFields = {
  description: z
    .string()
    .max(2_048)
    .refine(isStorable, { error: 'must not contain NUL' })
    .meta(withoutNul)
    .optional(),
  options: z.object({ version: version.optional() }).optional(),
  config: z.object(retentionFields).optional(),
};

const MountFields = z.object({ ...mountFields, ...retentionFields });

/** What a request changes. Retention may be in `config` or at the top level, which takes precedence. */
export function mountChange({
  description,
  config = {},
  ...retention
}: z.infer<typeof MountFields>): MountChange {
  const given = Object.entries(retentionChange(retention)).filter(([, value]) => value !== undefined);
  return {
    description,
    ...retentionChange(config),
    ...Object.fromEntries(given),
  };
}
