import { identityTokenSeconds } from '@secrets/domain';
import { z } from 'zod';

const Settings = z.object({
  project_id: z.string(),
  replication_locations: z.array(z.string()).default([]),
  service_account_email: z.string().default(''),
  workload_identity_provider: z.string().default(''),
  identity_token_audience: z.string().default(''),
  identity_token_ttl: z.number().default(identityTokenSeconds.usual),
  custom_tags: z.record(z.string(), z.string()).default({}),
});

export type CloudCSettings = z.infer<typeof Settings>;

/** Parses a destination's settings. Throws if they have no project, which the description does not permit. */
export const parseSettings = (settings: Record<string, unknown>): CloudCSettings => Settings.parse(settings);
