import type { Owner } from '@secrets/sync-worker';
import type { EnvironmentApi } from '../api/environment-api.ts';

/** A connected destination: what put and remove work with. */
export interface Store {
  api: EnvironmentApi;
  owner: Owner;
  /** `deployment_environments`. */
  environments: readonly string[];
  /**
   * Whether the team was found to enforce sensitive variables: then development, for which they are not allowed, needs a record of its own. Saves the
   * attempts without.
   */
  separatesDevelopment: boolean;
}
