import { cloudASm } from '@secrets/destinations';
import { connected, type Driver, settingsFor } from '@secrets/sync-worker';
import { BoundedHttpHandler } from './api/bounded-http-handler.ts';
import { credentialsFor, hasOwnIdentity } from './api/credentials.ts';
import { ownAccount } from './api/own-account.ts';
import { SecretsManagerApi } from './api/secrets-manager-api.ts';
import { Account, accountOf } from './secret/account.ts';
import { inspectSecret } from './secret/inspect-secret.ts';
import { listSecrets } from './secret/list-secrets.ts';
import { putSecret } from './secret/put-secret.ts';
import { releaseSecret } from './secret/release-secret.ts';
import { removeSecret } from './secret/remove-secret.ts';
import type { Store } from './secret/store.ts';
import { regionOf } from './settings.ts';
import { workersExternalId } from './worker-identity.ts';

export interface CloudASmOptions {
  /** The operator's endpoint for the provider's services; defaults to the provider's own endpoints. */
  endpointUrl?: string | undefined;
  /** The region of destinations that do not set one. */
  defaultRegion?: string | undefined;
  /**
   * Whether destinations of all namespaces may use the worker's credentials, not only those of the root and the
   * administrative one.
   */
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
    async connect(destination, { egress, prefix, scope, identityToken }) {
      const settings = settingsFor(cloudASm, destination);
      const region = regionOf(settings, defaultRegion);
      const keys = destination.credentials.reveal();
      const externalId = hasOwnIdentity(settings, keys)
        ? settings.external_id
        : workersExternalId(settings, destination, sharesIdentity);
      const agents = egress.forDestination(destination.settings, endpointUrl);
      const link = {
        region,
        requestHandler: new BoundedHttpHandler(agents),
        maxAttempts: 1,
        ...(endpointUrl === undefined ? {} : { endpoint: endpointUrl }),
      } as const;
      const identity = { keys, identityToken, prefix, externalId };
      const api = new SecretsManagerApi(link, () => credentialsFor(settings, identity, link));
      const owner = { prefix, destinationId: destination.id };
      const account = new Account(
        scope,
        async (signal) =>
          accountOf(settings.role_arn) ?? ownAccount(link, credentialsFor(settings, identity, link), signal),
      );
      const close = () => {
        api.close();
        agents.close();
      };
      const store = { api, account, settings, region, owner };
      return connected<Store>(cloudASm, store, {
        put: putSecret,
        remove: removeSecret,
        release: releaseSecret,
        inspect: inspectSecret,
        list: listSecrets,
        close,
      });
    },
  };
}
