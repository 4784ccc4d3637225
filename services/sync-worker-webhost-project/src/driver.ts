import { webhostProject } from '@secrets/destinations';
import { connected, type Driver, settingsFor } from '@secrets/sync-worker';
import { EnvironmentApi } from './api/environment-api.ts';
import { findUntouched, inspectVariable } from './variable/inspect-variable.ts';
import { listVariables } from './variable/list-variables.ts';
import { Project } from './variable/project.ts';
import { putVariable } from './variable/put-variable.ts';
import { releaseVariable, removeVariable } from './variable/remove-variable.ts';
import type { Store } from './variable/store.ts';

/** The driver of webhost-project. `endpointUrl` is the operator's endpoint in place of the provider's public API. */
export function webhostProjectDriver({ endpointUrl }: { endpointUrl?: string | undefined } = {}): Driver {
  return {
    type: webhostProject.type,
    async connect(destination, { egress, prefix, scope, remembered }) {
      const settings = settingsFor(webhostProject, destination);
      const agents = egress.forDestination(destination.settings, endpointUrl);
      const api = new EnvironmentApi({
        endpointUrl,
        accessToken: destination.credentials.reveal().access_token ?? '',
        projectId: settings.project_id,
        teamId: settings.team_id,
        fetch: agents.fetch,
      });
      const store = {
        api,
        project: new Project(api, scope),
        owner: { prefix, destinationId: destination.id },
        settings,
        remembered,
        placement: { separatesDevelopment: false },
      };
      const close = () => agents.close();
      return connected<Store>(webhostProject, store, {
        put: putVariable,
        remove: removeVariable,
        release: releaseVariable,
        inspect: inspectVariable,
        findUntouched,
        list: listVariables,
        close,
      });
    },
  };
}
