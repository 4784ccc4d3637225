import { cloudASm } from '@secrets/destinations';
import { type ConnectedDestination, type Driver, requireFit } from '@secrets/sync-worker';
import { BoundedHttpHandler } from './api/bounded-http-handler.ts';
import { credentialsFor, hasOwnIdentity } from './api/credentials.ts';
import { SecretsManagerApi } from './api/secrets-manager-api.ts';
import { putSecret } from './secret/put-secret.ts';
import { removeSecret } from './secret/remove-secret.ts';
import type { Store } from './secret/store.ts';
import { parseSettings } from './settings.ts';
import { withWorkerIdentity } from './worker-identity.ts';

export interface CloudASmOptions {
  /** The operator's endpoint for the provider's services; defaults to the provider's own endpoints. */
  endpointUrl?: string | undefined;
  /** The region of destinations that do not set one. */
  defaultRegion?: string | undefined;
  /** Whether destinations of all namespaces may use the worker's credentials, not only those of the root and the administrative one. */
  sharesIdentity?: boolean;
}

/** The driver of cloudA-sm, a secrets manager that is called through the provider's SDK. */
export function cloudaSmDriver({
  endpointUrl,
  defaultRegion,
  sharesIdentity = false,
}: CloudASmOptions = {}): Driver {
  return {
    type: cloudASm.type,
    async connect(destination, { egress, prefix, identityToken }): Promise<ConnectedDestination> {
      const parsed = parseSettings(destination.settings, defaultRegion);
      const keys = destination.credentials.reveal();
      const settings = hasOwnIdentity(parsed, keys)
        ? parsed
        : withWorkerIdentity(parsed, destination, sharesIdentity);
      const agents = egress.forDestination(destination.settings, endpointUrl);
      const link = {
        region: settings.region,
        requestHandler: new BoundedHttpHandler(agents),
        maxAttempts: 1,
        ...(endpointUrl === undefined ? {} : { endpoint: endpointUrl }),
      } as const;
      const identity = { keys, identityToken, prefix };
      const api = new SecretsManagerApi(link, () => credentialsFor(settings, identity, link));
      const owner = { prefix, destinationId: destination.id };
      return connected({ api, settings, owner }, () => agents.close());
    },
  };
}

function connected(store: Store, closeAgents: () => void): ConnectedDestination {
  return {
    async put(request, signal) {
      requireFit(cloudASm, request.value);
      return { remote: await putSecret(store, request, signal) };
    },
    remove: (request, signal) => removeSecret(store, request, signal),
    async close() {
      store.api.close();
      closeAgents();
    },
  };
}
