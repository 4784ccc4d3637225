import { webhostProject } from '@secrets/destinations';
import { type ConnectedDestination, type Driver, requireFit } from '@secrets/sync-worker';
import { EnvironmentApi } from './api/environment-api.ts';
import { parseSettings } from './settings.ts';
import { putVariable } from './variable/put-variable.ts';
import { removeVariable } from './variable/remove-variable.ts';
import type { Store } from './variable/store.ts';

/** The driver of webhost-project. `endpointUrl` is the operator's endpoint in place of the provider's public API. */
export function webhostProjectDriver({ endpointUrl }: { endpointUrl?: string | undefined } = {}): Driver {
  return {
    type: webhostProject.type,
    async connect(destination, { egress, prefix }): Promise<ConnectedDestination> {
      const settings = parseSettings(destination.settings);
      const agents = egress.forDestination(destination.settings, endpointUrl);
      const api = new EnvironmentApi({
        endpointUrl,
        accessToken: destination.credentials.reveal().access_token ?? '',
        projectId: settings.project_id,
        teamId: settings.team_id,
        fetch: agents.fetch,
      });
      const store: Store = {
        api,
        owner: { prefix, destinationId: destination.id },
        environments: settings.deployment_environments,
        separatesDevelopment: false,
      };
      return {
        async put(request, signal) {
          requireFit(webhostProject, request.value);
          return { remote: await putVariable(store, request, signal) };
        },
        remove: (request, signal) => removeVariable(store, request, signal),
        close: async () => agents.close(),
      };
    },
  };
}
