import type { JWTVerifyGetKey } from 'jose';
import { LRUCache } from 'lru-cache';
import type { ConfigSettings } from '../config/config-settings.ts';
import type { DirectoryTenant } from './discovery.ts';
import { directories } from './environments.ts';
import { TenantKeys } from './tenant-keys.ts';

const maxTenants = 1_000;

/** The signing keys of every tenant that a mount is configured for. */
export class DirectoryKeys {
  readonly #authorityUrl: string | undefined;
  readonly #clock: () => number;
  readonly #tenants = new LRUCache<string, TenantKeys>({ max: maxTenants });

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

  keysOf(config: Pick<ConfigSettings, 'environment' | 'tenant_id'>): JWTVerifyGetKey {
    const tenant = this.tenantOf(config);
    const name = nameOf(tenant);
    let keys = this.#tenants.get(name);
    if (keys === undefined) {
      keys = new TenantKeys(tenant, this.#clock);
      this.#tenants.set(name, keys);
    }
    return keys.find;
  }

  /** Drops the cached keys of a tenant, as after a change of configuration. */
  forget(config: Pick<ConfigSettings, 'environment' | 'tenant_id'>): void {
    this.#tenants.delete(nameOf(this.tenantOf(config)));
  }
}

const nameOf = ({ authority, environment, tenantId }: DirectoryTenant): string =>
  `${authority} ${environment} ${tenantId}`;
