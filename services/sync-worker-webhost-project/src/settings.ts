import { z } from 'zod';

const Settings = z.object({
  project_id: z.string(),
  team_id: z.string().default(''),
  deployment_environments: z.array(z.string()).min(1),
});

export type WebhostSettings = z.infer<typeof Settings>;

/** Parses a destination's settings. */
export const parseSettings = (settings: Record<string, unknown>): WebhostSettings => Settings.parse(settings);
