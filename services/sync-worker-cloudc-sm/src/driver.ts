import { cloudCSm } from '@secrets/destinations';
import { type ConnectedDestination, type Driver, requireFit } from '@secrets/sync-worker';
import { authClientFor, type Environment, metadataUrl } from './api/credentials.ts';
import { guardedTransport } from './api/guarded-transport.ts';
import { SecretManagerApi } from './api/secret-manager-api.ts';
import { putSecret } from './secret/put-secret.ts';
import { removeSecret } from './secret/remove-secret.ts';
import type { Store } from './secret/store.ts';
import { parseSettings } from './settings.ts';

export type CloudCSmOptions = Environment;

/** The driver of cloudC-sm, a secret manager that is called through the provider's SDK. */
export function cloudcSmDriver(environment: CloudCSmOptions = {}): Driver {
  return {
    type: cloudCSm.type,
    async connect(destination, { egress, prefix, log, identityToken }): Promise<ConnectedDestination> {
      const settings = parseSettings(destination.settings);
      const agents = egress.forDestination(destination.settings, environment.endpointUrl);
      const metadataAgents = egress.forDestination({}, metadataUrl(environment));
      const transports = {
        provider: guardedTransport(agents.fetch, environment.endpointUrl),
        metadata: metadataAgents.fetch,
      };
      const { credentials } = destination.credentials.reveal();
      const authenticate = () =>
        authClientFor(settings, { credentials, identityToken }, environment, transports);
      await authenticate(); // throws for credentials that cannot work
      const api = new SecretManagerApi(settings.project_id, authenticate);
      const store = { api, settings, log, owner: { prefix, destinationId: destination.id } };
      return connected(store, () => {
        agents.close();
        metadataAgents.close();
      });
    },
  };
}

function connected(store: Store, closeAgents: () => void): ConnectedDestination {
  return {
    async put(request, signal) {
      requireFit(cloudCSm, request.value);
      return { remote: await putSecret(store, request, signal) };
    },
    remove: (request, signal) => removeSecret(store, request, signal),
    async close() {
      await store.api.close();
      closeAgents();
    },
  };
}
