import type { JWTVerifyGetKey } from 'jose';
import { LRUCache } from 'lru-cache';
import type { ConfigSettings } from '../config/config-settings.ts';
import type { DirectoryTenant } from './discovery.ts';
import { directories } from './environments.ts';
import { TenantKeys } from './tenant-keys.ts';

const maxTenants = 1_000;

interface UsedKeys {
  keys: TenantKeys;
  /** The IDs of the mounts that have used them. */
  mounts: Set<string>;
}

/** The signing keys of every tenant that a mount is configured for. */
export class DirectoryKeys {
  readonly #authorityUrl: string | undefined;
  readonly #clock: () => number;
  readonly #tenants = new LRUCache<string, UsedKeys>({ max: maxTenants });

  /** @param authorityUrl replaces the directory of every environment */
  constructor(authorityUrl: string | undefined, clock: () => number = Date.now) {
    this.#authorityUrl = authorityUrl?.replace(/\/+$/, '');
    this.#clock = clock;
  }

  /** The directory and tenant of a configuration. */
  tenantOf(config: Pick<ConfigSettings, 'environment' | 'tenant_id'>): DirectoryTenant {
    return {
      authority: this.#authorityUrl ?? directories[config.environment].authority,
      environment: config.environment,
      tenantId: config.tenant_id.toLowerCase(),
    };
  }

  /** The keys of the tenant that a mount is configured for. */
  keysOf(config: Pick<ConfigSettings, 'environment' | 'tenant_id'>, mountId: string): JWTVerifyGetKey {
    const tenant = this.tenantOf(config);
    const name = nameOf(tenant);
    let used = this.#tenants.get(name);
    if (used === undefined) {
      used = { keys: new TenantKeys(tenant, this.#clock), mounts: new Set() };
      this.#tenants.set(name, used);
    }
    used.mounts.add(mountId);
    return used.keys.find;
  }

  /**
   * Drops the cached keys of a tenant, as after a change of the configuration of a mount. If other mounts use them too, possibly of other
   * namespaces, they stay in use until new ones have been fetched.
   */
  forget(config: Pick<ConfigSettings, 'environment' | 'tenant_id'>, mountId: string): void {
    const name = nameOf(this.tenantOf(config));
    const used = this.#tenants.get(name);
    if (used === undefined) return;
    used.mounts.delete(mountId);
    if (used.mounts.size === 0) this.#tenants.delete(name);
    else used.keys.refresh();
  }
}

const nameOf = ({ authority, environment, tenantId }: DirectoryTenant): string =>
  `${authority} ${environment} ${tenantId}`;
