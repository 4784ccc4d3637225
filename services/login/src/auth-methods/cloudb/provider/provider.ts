import { Problem } from '@secrets/domain';
import type { ConfigSettings } from '../config/config-settings.ts';

/** The provider's API says that the credentials lack a permission: unlike other problems with it, until somebody grants that. */
export class MissingPermission extends Problem {
  /** @param what what may not be read, in the plural */
  constructor(what: string, permission: string) {
    super(
      'bad_gateway',
      `the configured credentials may not read ${what}: they need the permission ${permission}`,
    );
  }
}

/** An identity that a resource has. */
export interface AssignedIdentity {
  /** Resource ID of the user-assigned identity. */
  id: string;
  principalId: string;
  clientId: string;
}

/** A machine, scale set or other resource, as the provider's API describes it. */
export interface ProviderResource {
  /** Resource ID. */
  id: string;
  /** As the API returns it, such as `westus` or `West US`. */
  location: string;
  /** Principal ID of the system-assigned identity. */
  systemAssigned?: string | undefined;
  userAssigned: readonly AssignedIdentity[];
  /** Of a machine that is an instance of a flexible scale set: the resource ID of the set. */
  scaleSetId?: string | undefined;
  /** Of a scale set. */
  orchestration?: 'uniform' | 'flexible' | undefined;
}

/** A name within a resource group. */
export interface ResourceName {
  subscriptionId: string;
  resourceGroup: string;
  name: string;
}

/**
 * The provider's API, with the credentials of one mount. Each method returns undefined if the resource does not exist.
 * It throws `unavailable` (503) if the API or the directory does not respond or is overloaded, and `bad_gateway` (502)
 * if the credentials do not suffice or the response is not usable; of these, `MissingPermission` if only a permission
 * is missing.
 */
export interface Provider {
  findMachine(name: ResourceName): Promise<ProviderResource | undefined>;
  findScaleSet(name: ResourceName): Promise<ProviderResource | undefined>;
  /** Any resource, by its ID; the newest stable API version of its type is looked up and cached. */
  findResource(id: string): Promise<ProviderResource | undefined>;
  /** A user-assigned identity, by its resource ID. */
  findIdentity(id: string): Promise<AssignedIdentity | undefined>;
}

/** The provider's API for each mount. */
export interface Providers {
  of(mount: { mountId: string; namespacePath: string; accessor: string; config: ConfigSettings }): Provider;
  /** Drops cached clients, access tokens and answers of a mount, as after a change of its configuration. */
  forget(mountId: string): void;
}
