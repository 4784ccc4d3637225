import type { Octokit } from '@octokit/rest';
import { codehost } from '@secrets/destinations';
import { Fault } from '@secrets/domain';
import { type ConnectedDestination, type Driver, type Owner, requireFit } from '@secrets/sync-worker';
import { CodehostApi, openOctokit } from './api/codehost-api.ts';
import { endpointFetch } from './api/endpoint-fetch.ts';
import { InstallationTokens, readPrivateKey } from './api/installation-tokens.ts';
import { OrganizationApi } from './api/organization-api.ts';
import { scopeOf } from './api/secret-scope.ts';
import { personalToken, type Tokens } from './api/tokens.ts';
import { OrganizationAccess } from './secret/organization-access.ts';
import { putSecret } from './secret/put-secret.ts';
import { removeSecret } from './secret/remove-secret.ts';
import { ScopeKey } from './secret/scope-key.ts';
import { SecretCount } from './secret/secret-count.ts';
import type { Store } from './secret/store.ts';
import { type CodehostSettings, parseSettings } from './settings.ts';

const publicApi = 'https://api.github.com';

/** The driver of codehost. `endpointUrl` is the operator's endpoint in place of the provider's public API. */
export function codehostDriver({ endpointUrl }: { endpointUrl?: string | undefined } = {}): Driver {
  return {
    type: codehost.type,
    async connect(destination, { egress, prefix }): Promise<ConnectedDestination> {
      const settings = parseSettings(destination.settings);
      const isPublic = settings.enterprise_url === '';
      const agents = egress.forDestination(destination.settings, isPublic ? endpointUrl : undefined);
      const baseUrl = isPublic
        ? (endpointUrl ?? publicApi).replace(/\/$/, '')
        : `${settings.enterprise_url}/api/v3`;
      const octokit = openOctokit(baseUrl, endpointFetch(baseUrl, agents.fetch));
      const api = new CodehostApi(octokit, tokensOf(octokit, settings, destination.credentials.reveal()));
      const owner = { prefix, destinationId: destination.id };
      return connected(storeOf(api, settings, owner), () => agents.close());
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
    throw new Fault('rejected', `app_name: the application ${name} does not exist in this namespace`);
  const key = readPrivateKey(privateKey, appName);
  return new InstallationTokens(octokit, { appName, appId, privateKey: key, id: Number(installationId) });
}

function storeOf(api: CodehostApi, settings: CodehostSettings, owner: Owner): Store {
  const scope = scopeOf(api, settings);
  const organization =
    settings.secrets_location === 'organization'
      ? new OrganizationAccess(new OrganizationApi(api, settings.organization_name), settings)
      : undefined;
  return { scope, key: new ScopeKey(scope), count: new SecretCount(scope), access: organization, owner };
}

const connected = (store: Store, closeAgents: () => void): ConnectedDestination => ({
  async put(request, signal) {
    requireFit(codehost, request.value);
    return { remote: await putSecret(store, request, signal) };
  },
  remove: (request, signal) => removeSecret(store, request, signal),
  close: async () => closeAgents(),
});
