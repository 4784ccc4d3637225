import type { JWTVerifyGetKey } from 'jose';
import type { ConfigSettings } from './config-settings.ts';
import type { DirectoryTenant } from './discovery.ts';
import { directories } from './environments.ts';
import { TenantKeys } from './tenant-keys.ts';

const maxTenants = 1_000;

/** The keys of every tenant that a mount is configured for. */
export class DirectoryKeys {
  readonly #authorityUrl: string | undefined;
  readonly #clock: () => number;
  readonly #tenants = new Map<string, TenantKeys>();

  /** `authorityUrl` takes the place of each environment's own directory. */
  constructor(authorityUrl: string | undefined, clock: () => number = Date.now) {
    this.#authorityUrl = authorityUrl?.replace(/\/+$/, '');
    this.#clock = clock;
  }

  /** Which directory and tenant a configuration speaks of. */
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
      if (this.#tenants.size >= maxTenants) this.#tenants.clear();
      keys = new TenantKeys(tenant, this.#clock);
      this.#tenants.set(name, keys);
    }
    return keys.find;
  }

  /** Drops what is kept of a tenant, as after a change of configuration. */
  forget(config: Pick<ConfigSettings, 'environment' | 'tenant_id'>): void {
    this.#tenants.delete(nameOf(this.tenantOf(config)));
  }
}

const nameOf = ({ authority, environment, tenantId }: DirectoryTenant): string =>
  `${authority} ${environment} ${tenantId}`;
