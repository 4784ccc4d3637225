import { z } from 'zod';

const Settings = z.object({
  project_id: z.string(),
  replication_locations: z.array(z.string()).default([]),
  custom_tags: z.record(z.string(), z.string()).default({}),
});

export type CloudCSettings = z.infer<typeof Settings>;

/** Parses a destination's settings. Throws if they have no project, which the description does not permit. */
export const parseSettings = (settings: Record<string, unknown>): CloudCSettings => Settings.parse(settings);
