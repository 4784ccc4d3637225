import type { JWTVerifyGetKey } from 'jose';
import { KeysByMount } from '../../verification/keys/keys-by-mount.ts';
import type { ConfigSettings } from '../config/config-settings.ts';
import type { DirectoryTenant } from './discovery.ts';
import { directories } from './environments.ts';
import { TenantKeys } from './tenant-keys.ts';

/** The signing keys of the tenant that each mount is configured for. */
export class DirectoryKeys {
  readonly #authorityUrl: string | undefined;
  readonly #clock: () => number;
  readonly #byMount = new KeysByMount();

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
    return this.#byMount.of(mountId, nameOf(tenant), () => new TenantKeys(tenant, this.#clock));
  }

  /** Drops the cached keys of a mount, as after a change of its configuration. */
  forget(mountId: string): void {
    this.#byMount.forget(mountId);
  }
}

const nameOf = ({ authority, environment, tenantId }: DirectoryTenant): string =>
  `${authority} ${environment} ${tenantId}`;
