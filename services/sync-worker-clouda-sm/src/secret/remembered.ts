import { replicaKeys } from '@secrets/destinations';
import { type RemoveRequest, rememberedOf, tagsOf } from '@secrets/sync-worker';
import { z } from 'zod';
import { type Attributes, allAttributes, attributesIn } from './attributes.ts';
import type { Store } from './store.ts';

const Remembered = z.object({
  name: z.string(),
  arn: z.string(),
  /** The provider's ID of the version that the last put wrote. */
  version: z.string(),
  /** The tags that the last put set, and that a later one may therefore remove. */
  tags: z.record(z.string(), z.string()),
  /** The same as in `attributes`, for the version before. */
  kmsKeyId: z.string(),
  /** The attributes that the last put set, by their setting. */
  attributes: z.record(z.string(), z.string()).default({}),
  replicas: z.array(z.string()),
  /** The keys that the last put gave to replicas, by region. */
  replicaKeys: z.record(z.string(), z.string()).default({}),
});

/** State of an external secret that is stored between two puts. */
export type Remembered = z.output<typeof Remembered> & { attributes: Attributes };

/** Returns what the last put stored; undefined if there was none, or if it was for another external name or account. */
export function parseRemembered({ account }: Store, request: RemoveRequest): Remembered | undefined {
  const known = rememberedOf(Remembered, request);
  if (known === undefined || !account.mayHold(known.arn)) return undefined;
  return { ...known, attributes: allAttributes({ kms_key_id: known.kmsKeyId, ...known.attributes }) };
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
    attributes: attributesIn(settings),
    replicas: Object.keys(replicaKeys(settings)),
    replicaKeys: replicaKeys(settings),
  };
}
