import type { SettingsOf, webhostProject } from '@secrets/destinations';
import type { DriverContext, Owner } from '@secrets/sync-worker';
import type { EnvironmentApi } from '../api/environment-api.ts';
import type { Project } from './project.ts';

/** Dependencies of a put or a removal. */
export interface Store {
  api: EnvironmentApi;
  project: Project;
  owner: Owner;
  /** Aborts the put or the removal. */
  signal: AbortSignal;
  settings: Pick<
    SettingsOf<typeof webhostProject.fields>,
    'deployment_environments' | 'custom_environment_ids' | 'git_branch' | 'sensitive'
  >;
  remembered: DriverContext['remembered'];
  /**
   * Whether the team was found to enforce sensitive variables: then development, for which they are not allowed, needs
   * a record of its own. Kept for later calls, to save the attempts without.
   */
  placement: { separatesDevelopment: boolean };
}

/** The environments for which the value is wanted: names of those that each project has, and IDs of its own ones. */
export const environmentsOf = ({ settings }: Store): readonly string[] => [
  ...settings.deployment_environments,
  ...settings.custom_environment_ids,
];

/** The settings that hold for every record of the destination. */
export interface WantedSettings {
  /** Empty for all branches. */
  gitBranch: string;
  isSensitive: boolean;
}

export const wantedSettings = ({ settings }: Store): WantedSettings => ({
  gitBranch: settings.git_branch,
  isSensitive: settings.sensitive,
});
