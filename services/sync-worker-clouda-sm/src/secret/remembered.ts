import { replicaKeys } from '@secrets/destinations';
import { type RemoveRequest, rememberedOf, tagsOf } from '@secrets/sync-worker';
import { z } from 'zod';
import type { Store } from './store.ts';

const Remembered = z.object({
  name: z.string(),
  arn: z.string(),
  /** The provider's ID of the version that the last put wrote. */
  version: z.string(),
  /** The tags that the last put set, and that a later one may therefore remove. */
  tags: z.record(z.string(), z.string()),
  kmsKeyId: z.string(),
  replicas: z.array(z.string()),
  /** The keys that the last put gave to replicas, by region. */
  replicaKeys: z.record(z.string(), z.string()).default({}),
});

/** State of an external secret that is stored between two puts. */
export type Remembered = z.output<typeof Remembered>;

/** Returns what the last put stored; undefined if there was none, or if it was for another external name or account. */
export function parseRemembered({ account }: Store, request: RemoveRequest): Remembered | undefined {
  const known = rememberedOf(Remembered, request);
  return known !== undefined && account.mayHold(known.arn) ? known : undefined;
}

/** Returns the state to store for a secret that now agrees with the destination's settings. */
export function remember(
  { settings, owner }: Store,
  name: string,
  { arn, version }: Pick<Remembered, 'arn' | 'version'>,
): Remembered {
  return {
    name,
    arn,
    version,
    tags: tagsOf(settings.custom_tags, owner),
    kmsKeyId: settings.kms_key_id,
    replicas: Object.keys(replicaKeys(settings)),
    replicaKeys: replicaKeys(settings),
  };
}
