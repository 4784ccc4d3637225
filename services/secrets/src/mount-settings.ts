import { z } from 'zod';
import { retentionFields } from './fields.ts';
import type { MountChange } from './queries/mounts.ts';

/** `options` of a mount: the version, which can only be 2. */
export const MountOptions = z
  .object({ version: z.union([z.string(), z.number()]).transform(String).optional() })
  .nullish()
  .refine((given) => given?.version !== '1', {
    error: 'version 1 of the key-value store is not offered; mount version 2',
  })
  .refine((given) => ['1', '2', undefined].includes(given?.version), { error: 'version must be 2' });

/** `config` of a mount. */
export const MountConfig = z.object(retentionFields).nullish();

/** What a request's body sets of a mount. */
export const mountChange = (
  config: z.infer<typeof MountConfig>,
  description: string | undefined,
): MountChange => ({
  description,
  maxVersions: config?.max_versions,
  casRequired: config?.cas_required,
  deleteAfterSeconds: config?.delete_version_after,
});
