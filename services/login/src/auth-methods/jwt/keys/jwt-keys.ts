import type { JWTVerifyGetKey } from 'jose';
import { documentFetcher, type FetchDocument } from '../../verification/http/bounded-fetch.ts';
import type { TrustingFetches } from '../../verification/http/trusting-fetches.ts';
import { discoveredSource, locatedSource } from '../../verification/keys/directory-source.ts';
import { KeyCache, type KeySource } from '../../verification/keys/key-cache.ts';
import { KeysByMount } from '../../verification/keys/keys-by-mount.ts';
import { StaticKeys } from '../../verification/keys/static-keys.ts';
import type { JwtConfig } from '../config/config-settings.ts';

type KeySettings = Pick<
  JwtConfig,
  'oidc_discovery_url' | 'oidc_discovery_ca_pem' | 'jwks_url' | 'jwks_ca_pem' | 'jwt_validation_pubkeys'
>;

/** The keys that the configuration of each mount trusts. Keys of directories are fetched through the egress guard. */
export class JwtKeys {
  readonly #fetches: TrustingFetches;
  readonly #byMount = new KeysByMount();

  constructor(fetches: TrustingFetches) {
    this.#fetches = fetches;
  }

  of(mountId: string, config: KeySettings): JWTVerifyGetKey {
    return this.#byMount.of(mountId, nameOf(config), () => {
      const source = this.#sourceOf(config);
      return source === undefined ? new StaticKeys(config.jwt_validation_pubkeys) : new KeyCache(source);
    });
  }

  /** Drops the cached keys of a mount, as after a change of its configuration. */
  forget(mountId: string): void {
    this.#byMount.forget(mountId);
  }

  /** Throws `unavailable` or `bad_gateway` if the keys of a configuration cannot be fetched. */
  async requireFetchable(config: KeySettings): Promise<void> {
    const source = this.#sourceOf(config);
    if (source !== undefined) await source.fetch((await source.locate()).href);
  }

  /** Undefined if the configuration contains the keys. */
  #sourceOf(config: KeySettings): KeySource | undefined {
    const { oidc_discovery_url: issuer, oidc_discovery_ca_pem, jwks_url, jwks_ca_pem } = config;
    if (issuer !== '') return discoveredSource(this.#fetcherTrusting(oidc_discovery_ca_pem), issuer);
    if (jwks_url !== '') return locatedSource(this.#fetcherTrusting(jwks_ca_pem), jwks_url);
    return undefined;
  }

  #fetcherTrusting = (ca: string): FetchDocument => documentFetcher(this.#fetches.trusting(ca));
}

const nameOf = ({
  oidc_discovery_url,
  oidc_discovery_ca_pem,
  jwks_url,
  jwks_ca_pem,
  jwt_validation_pubkeys,
}: KeySettings) =>
  JSON.stringify([
    oidc_discovery_url,
    oidc_discovery_ca_pem,
    jwks_url,
    jwks_ca_pem,
    ...jwt_validation_pubkeys,
  ]);
