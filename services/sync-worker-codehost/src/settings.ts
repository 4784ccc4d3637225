import { z } from 'zod';

const Settings = z.object({
  secrets_location: z.enum(['repository', 'organization']).default('repository'),
  app_name: z.string().default(''),
  installation_id: z.string().default(''),
  repository_owner: z.string().default(''),
  repository_name: z.string().default(''),
  environment_name: z.string().default(''),
  organization_name: z.string().default(''),
  /** The provider requires one. Its own command-line client writes secrets with `private` by default. */
  organization_visibility: z
    .enum(['', 'all', 'private', 'selected'])
    .default('')
    .transform((given) => given || 'private'),
  selected_repository_names: z.array(z.string()).default([]),
  enterprise_url: z.string().default(''),
});

export type CodehostSettings = z.infer<typeof Settings>;

/** Parses a destination's settings, which its description has already checked. */
export const parseSettings = (settings: Record<string, unknown>): CodehostSettings =>
  Settings.parse(settings);
