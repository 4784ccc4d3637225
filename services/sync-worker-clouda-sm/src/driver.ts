import { cloudASm } from '@secrets/destinations';
import { type ConnectedDestination, type Driver, requireFit } from '@secrets/sync-worker';
import { BoundedHttpHandler } from './api/bounded-http-handler.ts';
import { SecretsManagerApi } from './api/secrets-manager-api.ts';
import type { Store } from './secret/own-secret.ts';
import { putSecret } from './secret/put-secret.ts';
import { removeSecret } from './secret/remove-secret.ts';
import { settingsOf } from './secret/settings.ts';

export interface CloudASmOptions {
  /** Where the provider's services are; their own endpoints when absent. */
  endpointUrl?: string | undefined;
  /** The region of destinations that name none. */
  defaultRegion?: string | undefined;
}

/** The driver of cloudA-sm: a secrets manager, spoken to with the provider's SDK. */
export function cloudaSmDriver({ endpointUrl, defaultRegion }: CloudASmOptions = {}): Driver {
  return {
    type: cloudASm.type,
    async connect(destination, { egress, prefix }): Promise<ConnectedDestination> {
      const settings = settingsOf(destination, defaultRegion);
      const ways = egress.forDestination(destination.settings, endpointUrl);
      const link = {
        region: settings.region,
        requestHandler: new BoundedHttpHandler(ways),
        maxAttempts: 1,
        ...(endpointUrl === undefined ? {} : { endpoint: endpointUrl }),
      } as const;
      const api = new SecretsManagerApi(settings, destination.credentials.reveal(), link, prefix);
      return connected({ api, settings, destinationId: destination.id, prefix }, () => ways.close());
    },
  };
}

function connected(store: Store, letGo: () => void): ConnectedDestination {
  return {
    async put(request, signal) {
      requireFit(cloudASm, request.value);
      return { remote: await putSecret(store, request, signal) };
    },
    remove: (request, signal) => removeSecret(store, request, signal),
    async close() {
      store.api.close();
      letGo();
    },
  };
}
