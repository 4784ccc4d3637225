import type { Octokit } from '@octokit/rest';
import { type CodehostSettings, codehost } from '@secrets/destinations';
import { Fault } from '@secrets/domain';
import { connected, type Driver, type Owner, type ScopeMemory, settingsFor } from '@secrets/sync-worker';
import { CodehostApi, openOctokit } from './api/codehost-api.ts';
import { endpointFetch } from './api/endpoint-fetch.ts';
import { InstallationTokens, readPrivateKey } from './api/installation-tokens.ts';
import { OrganizationApi } from './api/organization-api.ts';
import { secretScope } from './api/secret-scope.ts';
import { SecretsLocation } from './api/secrets-location.ts';
import { personalToken, type Tokens } from './api/tokens.ts';
import { findUntouched } from './secret/find-untouched.ts';
import { inspectSecret } from './secret/inspect-secret.ts';
import { listSecrets } from './secret/list-secrets.ts';
import { OrganizationAccess } from './secret/organization-access.ts';
import { putSecret } from './secret/put-secret.ts';
import { removeSecret } from './secret/remove-secret.ts';
import { RemovedSecrets } from './secret/removed-secrets.ts';
import { ScopeKey } from './secret/scope-key.ts';
import { SecretCount } from './secret/secret-count.ts';
import type { Store } from './secret/store.ts';

const publicApi = 'https://api.github.com';

/** The driver of codehost. `endpointUrl` is the operator's endpoint in place of the provider's public API. */
export function codehostDriver({ endpointUrl }: { endpointUrl?: string | undefined } = {}): Driver {
  return {
    type: codehost.type,
    async connect(destination, { egress, prefix, scope }) {
      const settings = settingsFor(codehost, destination);
      const isPublic = settings.enterprise_url === '';
      const agents = egress.forDestination(destination.settings, isPublic ? endpointUrl : undefined);
      const baseUrl = isPublic
        ? (endpointUrl ?? publicApi).replace(/\/$/, '')
        : `${settings.enterprise_url}/api/v3`;
      const octokit = openOctokit(baseUrl, endpointFetch(baseUrl, agents.fetch));
      const api = new CodehostApi(octokit, tokensOf(octokit, settings, destination.credentials.reveal()));
      const owner = { prefix, destinationId: destination.id };
      const store = storeOf(api, settings, { owner, memory: scope });
      const close = () => agents.close();
      return connected<Store>(codehost, store, {
        put: putSecret,
        remove: removeSecret,
        inspect: inspectSecret,
        findUntouched,
        list: listSecrets,
        close,
      });
    },
  };
}

/** Throws `Fault` for credentials that cannot work. */
function tokensOf(
  octokit: Octokit,
  { app_name: appName, installation_id: installationId }: CodehostSettings,
  { access_token: token, app_id: appId, private_key: privateKey }: Record<string, string>,
): Tokens {
  if (appName === '') {
    if (token !== undefined) return personalToken(token);
    throw new Fault('unauthenticated', 'the destination has neither access_token nor app_name');
  }
  const name = JSON.stringify(appName);
  if (appId === undefined || privateKey === undefined)
    throw new Fault('rejected', `app_name: the application ${name} does not exist in this namespace`, {
      mayPass: true,
    });
  const key = readPrivateKey(privateKey, appName);
  return new InstallationTokens(octokit, { appName, appId, privateKey: key, id: Number(installationId) });
}

function storeOf(
  api: CodehostApi,
  settings: CodehostSettings,
  { owner, memory }: { owner: Owner; memory: ScopeMemory },
): Omit<Store, 'signal'> {
  const place = new SecretsLocation(api, settings, memory);
  const scope = secretScope(api, place);
  const organization =
    settings.secrets_location === 'organization'
      ? new OrganizationAccess(new OrganizationApi(api, place), settings, memory)
      : undefined;
  const removed = new RemovedSecrets();
  const count = new SecretCount(scope, removed);
  return { scope, key: new ScopeKey(scope), count, removed, access: organization, owner };
}
