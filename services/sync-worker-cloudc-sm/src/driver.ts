import { type CloudCSettings, cloudCSm } from '@secrets/destinations';
import { connected, type Driver, settingsFor } from '@secrets/sync-worker';
import { authClientFor, type Environment, metadataUrl } from './api/credentials.ts';
import { guardedTransport } from './api/guarded-transport.ts';
import { SecretManagerApi } from './api/secret-manager-api.ts';
import { inspectSecret } from './secret/inspect-secret.ts';
import { listSecrets } from './secret/list-secrets.ts';
import { putSecret } from './secret/put-secret.ts';
import { releaseSecret } from './secret/release-secret.ts';
import { removeSecret } from './secret/remove-secret.ts';
import type { Store } from './secret/store.ts';

export type CloudCSmOptions = Environment;

const placeOf = ({ project_id: project, location }: CloudCSettings) => ({ project, location });

/** The driver of cloudC-sm, a secret manager that is called through the provider's SDK. */
export function cloudcSmDriver(environment: CloudCSmOptions = {}): Driver {
  return {
    type: cloudCSm.type,
    async connect(destination, { egress, prefix, scope, log, identityToken }) {
      const settings = settingsFor(cloudCSm, destination);
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
      const api = new SecretManagerApi(placeOf(settings), authenticate);
      const store = { api, settings, log, scope, owner: { prefix, destinationId: destination.id } };
      const close = async () => {
        await api.close();
        agents.close();
        metadataAgents.close();
      };
      return connected<Store>(cloudCSm, store, {
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
