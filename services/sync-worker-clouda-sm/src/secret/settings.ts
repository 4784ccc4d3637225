import { builtInTags } from '@secrets/destinations';
import { Fault } from '@secrets/domain';
import type { DestinationSettings, PutRequest } from '@secrets/sync-worker';
import { z } from 'zod';

const Settings = z.object({
  region: z.string().default(''),
  role_arn: z.string().default(''),
  external_id: z.string().default(''),
  kms_key_id: z.string().default(''),
  replica_regions: z.array(z.string()).default([]),
  recovery_window_days: z.number().default(0),
  custom_tags: z.record(z.string(), z.string()).default({}),
});

export type CloudASettings = z.infer<typeof Settings>;

/** The destination's settings, with the region that holds: its own, else the environment's. Throws `Fault` without any. */
export function settingsOf(
  { settings }: DestinationSettings,
  defaultRegion: string | undefined,
): CloudASettings {
  const parsed = Settings.parse(settings);
  const region = parsed.region || defaultRegion;
  if (region) return { ...parsed, region };
  throw new Fault('rejected', 'the destination has no region, and the environment of the worker names none');
}

/** Every tag that a secret of the destination carries; ours win. */
export const wantedTags = (
  settings: CloudASettings,
  prefix: string,
  destinationId: string,
): Record<string, string> => ({
  ...settings.custom_tags,
  ...builtInTags(prefix, destinationId),
});

const Remote = z.object({
  name: z.string(),
  arn: z.string(),
  /** The provider's id of the version that we wrote last. */
  version: z.string(),
  /** What we set, and may therefore take away. */
  tags: z.record(z.string(), z.string()),
  kmsKeyId: z.string(),
  replicas: z.array(z.string()),
});

/** What is remembered of an external secret between two puts. */
export type Remote = z.infer<typeof Remote>;

/** What the last put remembered; undefined at the first, and for another name. */
export function parseRemembered({
  remote,
  externalName,
}: Pick<PutRequest, 'remote' | 'externalName'>): Remote | undefined {
  const parsed = Remote.safeParse(remote);
  return parsed.success && parsed.data.name === externalName ? parsed.data : undefined;
}
