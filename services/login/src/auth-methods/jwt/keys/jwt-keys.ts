import { Fault, Problem } from '@secrets/domain';
import type { DocumentFetch } from '@secrets/egress';
import type { JWTVerifyGetKey } from 'jose';
import { LRUCache } from 'lru-cache';
import { documentFetcher, type FetchDocument } from '../../verification/http/bounded-fetch.ts';
import { KeyCache, type KeySource } from '../../verification/key-cache.ts';
import { KeysByMount } from '../../verification/keys-by-mount.ts';
import type { JwtConfig } from '../config/config-settings.ts';
import { discoveredSource, locatedSource } from './directory-source.ts';
import { StaticKeys } from './static-keys.ts';

const maxAuthorities = 200;

type KeySettings = Pick<
  JwtConfig,
  'oidc_discovery_url' | 'oidc_discovery_ca_pem' | 'jwks_url' | 'jwks_ca_pem' | 'jwt_validation_pubkeys'
>;

/** The keys that the configuration of each mount trusts. Keys of directories are fetched through the egress guard. */
export class JwtKeys {
  readonly #fetchTrusting: (ca: string | undefined) => DocumentFetch;
  readonly #byMount = new KeysByMount();
  /** Connections by the certificates that they trust. */
  readonly #fetches = new LRUCache<string, DocumentFetch>({
    max: maxAuthorities,
    dispose: (unused) => unused.close(),
  });

  /** @param fetchTrusting returns a `fetch` for documents, which trusts these certificates */
  constructor(fetchTrusting: (ca: string | undefined) => DocumentFetch) {
    this.#fetchTrusting = fetchTrusting;
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

  #fetcherTrusting(ca: string): FetchDocument {
    const known = this.#fetches.get(ca) ?? this.#fetchTrusting(ca === '' ? undefined : ca);
    this.#fetches.set(ca, known);
    return documentFetcher((url, init) => known.fetch(url, init).catch(asRefusal));
  }
}

/** Whoever logs in must not learn which address a name resolves to. */
function asRefusal(error: unknown): never {
  const { cause } = error as Error;
  if (cause instanceof Fault && cause.kind === 'forbidden')
    throw new Problem(
      'bad_gateway',
      'the directory is at an address to which LOGIN_EGRESS_ALLOW permits no connection',
      { cause },
    );
  throw error;
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
