import type { HttpClient } from '@azure/core-rest-pipeline';
import { SecretClient } from '@azure/keyvault-secrets';
import { cloudBKv } from '@secrets/destinations';
import { connected, type Driver, type Egress, settingsFor } from '@secrets/sync-worker';
import { credentialFor } from './api/credential.ts';
import { guardedHttpClient } from './api/guarded-http-client.ts';
import { VaultApi } from './api/vault-api.ts';
import { locateVault, type VaultLocation } from './api/vault-location.ts';
import { withFaults } from './api/vault-responses.ts';
import { findUntouched } from './secret/find-untouched.ts';
import { inspectSecret } from './secret/inspect-secret.ts';
import { listSecrets } from './secret/list-secrets.ts';
import { putSecret } from './secret/put-secret.ts';
import { releaseSecret, removeSecret } from './secret/remove-secret.ts';
import type { Store } from './secret/store.ts';

export interface CloudBKvOptions {
  /** The operator's endpoint for all vaults; defaults to the vaults' own hosts. */
  endpointUrl?: string | undefined;
  /** The operator's directory; defaults to that of the cloud. */
  authorityUrl?: string | undefined;
}

/** The driver of cloudB-kv, key vaults that are called through the provider's SDK. */
export function cloudbKvDriver({ endpointUrl, authorityUrl }: CloudBKvOptions = {}): Driver {
  return {
    type: cloudBKv.type,
    async connect(destination, { egress, prefix, scope, identityToken }) {
      const settings = settingsFor(cloudBKv, destination);
      const location = locateVault(settings, endpointUrl);
      const toVault = egress.forDestination(destination.settings, endpointUrl);
      const toDirectory = egress.forDestination(destination.settings, authorityUrl);
      const directory = directoryClient(toDirectory, authorityUrl);
      const vault = withFaults(guardedHttpClient(toVault.fetch, location.detour), location.audience, scope);
      const { client_secret: clientSecret } = destination.credentials.reveal();
      const credential = () => credentialFor(settings, { clientSecret, identityToken }, directory);
      const api = new VaultApi(() => secretClient(location, vault, credential()));
      const owner = { prefix, destinationId: destination.id };
      const close = () => {
        toVault.close();
        toDirectory.close();
      };
      const store = { api, settings, owner };
      return connected<Store>(cloudBKv, store, {
        put: putSecret,
        remove: removeSecret,
        release: releaseSecret,
        inspect: inspectSecret,
        findUntouched,
        list: listSecrets,
        close,
      });
    },
  };
}

const directoryClient = ({ fetch }: Egress, authorityUrl: string | undefined): HttpClient =>
  guardedHttpClient(
    fetch,
    authorityUrl === undefined ? undefined : { baseUrl: authorityUrl, forwardsHost: false },
  );

/** The version of the API is pinned, because national clouds and emulators do not know the newest. */
const secretClient = (
  { vaultUrl, audience }: VaultLocation,
  httpClient: HttpClient,
  credential: ConstructorParameters<typeof SecretClient>[1],
): SecretClient =>
  new SecretClient(vaultUrl, credential, {
    serviceVersion: '7.4',
    httpClient,
    retryOptions: { maxRetries: 0 },
    redirectOptions: { maxRetries: 0 },
    disableChallengeResourceVerification: audience === undefined,
  });
