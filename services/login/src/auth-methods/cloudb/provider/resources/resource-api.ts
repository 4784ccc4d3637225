import { ComputeManagementClient } from '@azure/arm-compute';
import { ManagedServiceIdentityClient } from '@azure/arm-msi';
import { ResourceManagementClient } from '@azure/arm-resources';
import type { HttpClient } from '@azure/core-rest-pipeline';
import type { TokenCredential } from '@azure/identity';
import { LRUCache } from 'lru-cache';
import { parseResourceId } from '../../resource-names/resource-id.ts';
import type { AssignedIdentity, ProviderResource, ResourceName } from '../provider.ts';
import { newestVersion } from './api-versions.ts';
import { armProblem, isAbsence, type ResourceRead } from './arm-problem.ts';
import { describedIdentity, describedResource } from './described-resource.ts';

const maxSubscriptions = 50;
const versionsLiveMs = 24 * 3_600_000;

const machines: ResourceRead = {
  what: 'virtual machines',
  permission: 'Microsoft.Compute/virtualMachines/read',
};
const scaleSets: ResourceRead = {
  what: 'scale sets',
  permission: 'Microsoft.Compute/virtualMachineScaleSets/read',
};
const identities: ResourceRead = {
  what: 'user-assigned identities',
  permission: 'Microsoft.ManagedIdentity/userAssignedIdentities/read',
};
const providers: ResourceRead = {
  what: 'the API versions of resource types',
  permission: 'Microsoft.Resources/providers/read',
};

export interface ResourceApiOptions {
  credential: TokenCredential;
  /** Base URL, which is also the audience of the tokens. */
  endpoint: string;
  httpClient: HttpClient;
}

/** The SDK clients of one subscription. */
interface Clients {
  compute: ComputeManagementClient;
  identities: ManagedServiceIdentityClient;
  resources: ResourceManagementClient;
}

/**
 * The resource manager, called through the SDKs with one set of credentials. Methods return undefined for what does not
 * exist, and throw `Problem`.
 */
export class ResourceApi {
  readonly #options: ResourceApiOptions;
  readonly #clients = new LRUCache<string, Clients>({ max: maxSubscriptions });
  readonly #versions = new LRUCache<string, string>({ max: 500, ttl: versionsLiveMs });

  constructor(options: ResourceApiOptions) {
    this.#options = options;
  }

  async machine({
    subscriptionId,
    resourceGroup,
    name,
  }: ResourceName): Promise<ProviderResource | undefined> {
    const { compute } = this.#clientsOf(subscriptionId);
    return described(await found(machines, () => compute.virtualMachines.get(resourceGroup, name)));
  }

  async scaleSet({
    subscriptionId,
    resourceGroup,
    name,
  }: ResourceName): Promise<ProviderResource | undefined> {
    const { compute } = this.#clientsOf(subscriptionId);
    return described(await found(scaleSets, () => compute.virtualMachineScaleSets.get(resourceGroup, name)));
  }

  async identity({
    subscriptionId,
    resourceGroup,
    name,
  }: ResourceName): Promise<AssignedIdentity | undefined> {
    const { identities: api } = this.#clientsOf(subscriptionId);
    const identity = await found(identities, () => api.userAssignedIdentities.get(resourceGroup, name));
    return identity === undefined ? undefined : describedIdentity(identity);
  }

  /** Any resource in a resource group. An ID of another form does not exist. */
  async resource(id: string): Promise<ProviderResource | undefined> {
    const parts = parseResourceId(id);
    if (parts === undefined) return undefined;
    const version = await this.#versionOf(parts.subscriptionId, parts.type);
    if (version === undefined) return undefined;
    const { resources } = this.#clientsOf(parts.subscriptionId);
    const reading = { what: `resources of the type ${parts.type}`, permission: `${parts.type}/read` };
    const path = id.slice(1); // the SDK adds the slash
    return described(await found(reading, () => resources.resources.getById(path, version)));
  }

  async #versionOf(subscriptionId: string, type: string): Promise<string | undefined> {
    const key = type.toLowerCase();
    const known = this.#versions.get(key);
    if (known !== undefined) return known;
    const [namespace = '', ...path] = type.split('/');
    const { resources } = this.#clientsOf(subscriptionId);
    // Of the tenant, not of the subscription: that would need a permission on the whole subscription.
    const provider = await found(providers, () => resources.providers.getAtTenantScope(namespace));
    const version = newestVersion(provider?.resourceTypes ?? [], path.join('/'));
    if (version !== undefined) this.#versions.set(key, version);
    return version;
  }

  #clientsOf(subscriptionId: string): Clients {
    const key = subscriptionId.toLowerCase();
    const clients = this.#clients.get(key) ?? createClients(this.#options, subscriptionId);
    this.#clients.set(key, clients);
    return clients;
  }
}

function createClients(
  { credential, endpoint, httpClient }: ResourceApiOptions,
  subscriptionId: string,
): Clients {
  const scope = `${endpoint}/.default`;
  const options = {
    endpoint,
    httpClient,
    retryOptions: { maxRetries: 0 }, // the HTTP client repeats requests
    redirectOptions: { maxRetries: 0 },
    credentials: { scopes: [scope] },
  };
  return {
    compute: new ComputeManagementClient(credential, subscriptionId, options),
    identities: new ManagedServiceIdentityClient(credential, subscriptionId, {
      ...options,
      credentialScopes: scope,
    }),
    resources: new ResourceManagementClient(credential, subscriptionId, options),
  };
}

async function found<Result>(
  reading: ResourceRead,
  call: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await call();
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw armProblem(error, reading);
  }
}

const described = (resource: unknown): ProviderResource | undefined =>
  resource === undefined ? undefined : describedResource(resource);
