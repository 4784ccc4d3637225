import type { JWTVerifyGetKey } from 'jose';
import { LRUCache } from 'lru-cache';
import type { ConfigSettings } from '../config/config-settings.ts';
import type { DirectoryTenant } from './discovery.ts';
import { directories } from './environments.ts';
import { TenantKeys } from './tenant-keys.ts';

const maxMounts = 5_000;

interface Kept {
  /** The tenant that they are of. */
  name: string;
  keys: TenantKeys;
}

/**
 * The signing keys of the tenant that each mount is configured for. Mounts of one tenant do not share them: a write of
 * the configuration of one, which drops its keys, must not make the others depend on the directory.
 */
export class DirectoryKeys {
  readonly #authorityUrl: string | undefined;
  readonly #clock: () => number;
  readonly #byMount = new LRUCache<string, Kept>({ max: maxMounts });

  /** @param authorityUrl replaces the directory of every environment */
  constructor(authorityUrl: string | undefined, clock: () => number = () => performance.now()) {
    this.#authorityUrl = authorityUrl?.replace(/\/+$/, '');
    this.#clock = clock;
  }

  /**
   * A warning for whoever configures a mount; undefined if the directory is that of the cloud, or is
   * reached over TLS.
   */
  get warning(): string | undefined {
    const url = this.#authorityUrl;
    return url?.startsWith('http:')
      ? `logins trust the directory at ${url}; if it is the sandbox, it issues a token for any identity to anyone who can reach it`
      : undefined;
  }

  /** The directory and tenant of a configuration. */
  tenantOf(config: Pick<ConfigSettings, 'environment' | 'tenant_id'>): DirectoryTenant {
    return {
      authority: this.#authorityUrl ?? directories[config.environment].authority,
      environment: config.environment,
      tenantId: config.tenant_id.toLowerCase(),
    };
  }

  keysOf(mountId: string, config: Pick<ConfigSettings, 'environment' | 'tenant_id'>): JWTVerifyGetKey {
    const tenant = this.tenantOf(config);
    const name = nameOf(tenant);
    const kept = this.#byMount.get(mountId);
    if (kept?.name === name) return kept.keys.find;
    const keys = new TenantKeys(tenant, this.#clock);
    this.#byMount.set(mountId, { name, keys });
    return keys.find;
  }

  /** Drops the cached keys of a mount, as after a change of its configuration. */
  forget(mountId: string): void {
    this.#byMount.delete(mountId);
  }
}

const nameOf = ({ authority, environment, tenantId }: DirectoryTenant): string =>
  `${authority} ${environment} ${tenantId}`;
