import { Fault, identityTokenSeconds } from '@secrets/domain';
import { z } from 'zod';

const Settings = z.object({
  region: z.string().default(''),
  role_arn: z.string().default(''),
  external_id: z.string().default(''),
  identity_token_audience: z.string().default(''),
  identity_token_ttl: z.number().default(identityTokenSeconds.usual),
  kms_key_id: z.string().default(''),
  replica_regions: z.array(z.string()).default([]),
  recovery_window_days: z.number().default(0),
  custom_tags: z.record(z.string(), z.string()).default({}),
});

export type CloudASettings = z.infer<typeof Settings>;

/**
 * Parses a destination's settings. `region` becomes the destination's own region, else the worker's default.
 * @throws {Fault} `rejected`, if there is neither
 */
export function parseSettings(
  settings: Record<string, unknown>,
  defaultRegion: string | undefined,
): CloudASettings {
  const parsed = Settings.parse(settings);
  const region = parsed.region || defaultRegion;
  if (region) return { ...parsed, region };
  throw new Fault('rejected', "neither the destination nor the worker's environment sets a region");
}
