import { Problem } from '@secrets/domain';
import type { JWTVerifyGetKey } from 'jose';
import { LRUCache } from 'lru-cache';
import { documentFetcher, type FetchDocument } from '../../verification/http/bounded-fetch.ts';
import type { TrustingFetches } from '../../verification/http/trusting-fetches.ts';
import { locatedSource } from '../../verification/keys/directory-source.ts';
import { KeyCache } from '../../verification/keys/key-cache.ts';
import { KeysByMount } from '../../verification/keys/keys-by-mount.ts';
import { StaticKeys } from '../../verification/keys/static-keys.ts';
import { type KubernetesConfig, serverUrl } from '../config/config-settings.ts';

/** Where a cluster publishes the keys of its service account tokens. */
const keySetPath = '/openid/v1/jwks';
/** Statuses of a cluster that shows its keys only to others, or not at all. */
const unpublishedStatuses = [401, 403, 404];
const maxUnpublished = 5_000;
const unpublishedMs = 10 * 60_000;

type KeySettings = Pick<KubernetesConfig, 'kubernetes_host' | 'kubernetes_ca_cert' | 'pem_keys'>;

/** A cluster that does not show its key set without a token. */
export class KeysNotPublished extends Problem {
  constructor() {
    super('bad_gateway', 'the cluster does not publish its keys');
  }
}

/** The keys that the configuration of each mount trusts: its own, or those that its cluster publishes. */
export class ClusterKeys {
  readonly #fetches: TrustingFetches;
  readonly #byMount = new KeysByMount();
  readonly #unpublished = new LRUCache<string, true>({ max: maxUnpublished, ttl: unpublishedMs });

  constructor(fetches: TrustingFetches) {
    this.#fetches = fetches;
  }

  /** Finds keys. It throws `KeysNotPublished` if the configuration has none and the cluster does not show its own. */
  of(mountId: string, config: KeySettings): JWTVerifyGetKey {
    const name = nameOf(config);
    const find = this.#byMount.of(mountId, name, () => this.#keysOf(config));
    if (config.pem_keys.length > 0) return find;
    const key = JSON.stringify([mountId, name]);
    return async (...of) => {
      if (this.#unpublished.has(key)) throw new KeysNotPublished();
      try {
        return await find(...of);
      } catch (error) {
        if (error instanceof KeysNotPublished) this.#unpublished.set(key, true); // no fetch for each login
        throw error;
      }
    };
  }

  /** Drops the cached keys of a mount, as after a change of its configuration. */
  forget(mountId: string): void {
    this.#byMount.forget(mountId);
    for (const key of this.#unpublished.keys())
      if ((JSON.parse(key) as [string])[0] === mountId) this.#unpublished.delete(key);
  }

  #keysOf(config: KeySettings): StaticKeys | KeyCache {
    if (config.pem_keys.length > 0) return new StaticKeys(config.pem_keys);
    const fetchDocument = documentFetcher(this.#fetches.trusting(config.kubernetes_ca_cert));
    const fetchKeys: FetchDocument = (url) =>
      fetchDocument(url, () => new KeysNotPublished(), unpublishedStatuses);
    return new KeyCache(locatedSource(fetchKeys, serverUrl(config, keySetPath)));
  }
}

const nameOf = ({ kubernetes_host, kubernetes_ca_cert, pem_keys }: KeySettings): string =>
  JSON.stringify([kubernetes_host, kubernetes_ca_cert, ...pem_keys]);
