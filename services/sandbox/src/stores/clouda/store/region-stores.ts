import { AwsError, limitExceeded } from '../aws-error.ts';
import { type RegionRecord, RegionStore } from './region-store.ts';
import type { Secret } from './secret.ts';

const MAX_REGIONS = 200;
const MAX_BYTES = 1024 * 1024 * 1024;
/** Quota of the real service: secrets per region and account. */
const MAX_SECRETS_PER_REGION = 500_000;
const REGION = /^[a-z]{2}(-[a-z]+){1,3}-\d{1,2}$/;

/** One store per account and region. They are independent of each other, except for replicas. */
export class RegionStores {
  readonly #stores = new Map<string, RegionStore>();
  readonly #persist: (record: RegionRecord) => void;
  readonly #now: () => number;

  constructor(persist: (record: RegionRecord) => void, now: () => number) {
    this.#persist = persist;
    this.#now = now;
  }

  /** The stores as they were at a time, to be read only. */
  asOf(ms: number): RegionStores {
    const view = new RegionStores(
      () => {},
      () => ms,
    );
    for (const [key, store] of this.#stores) view.#stores.set(key, store.asOf(ms));
    return view;
  }

  /** @throws AwsError if `region` is not a region, or the sandbox has its maximum number of regions */
  of(account: string, region: string): RegionStore {
    const key = `${account}/${region}`;
    const existing = this.#stores.get(key);
    if (existing) return existing;
    if (!REGION.test(region)) throw new AwsError('InvalidSignatureException', `'${region}' is not a region.`);
    if (this.#stores.size >= MAX_REGIONS)
      throw limitExceeded(`The sandbox is limited to ${MAX_REGIONS} regions.`);
    const store = new RegionStore(account, region, this.#persist, this.#now);
    this.#stores.set(key, store);
    return store;
  }

  /** The secret that holds the values, labels and tags of `secret`: itself, or the primary of a replica. */
  primaryOf(account: string, secret: Secret): Secret {
    if (secret.primaryRegion === undefined) return secret;
    return this.of(account, secret.primaryRegion).get(secret.name) ?? secret;
  }

  all(): Iterable<RegionStore> {
    return this.#stores.values();
  }

  /** @throws AwsError LimitExceededException if `store` or the sandbox is full */
  requireCapacity(store: RegionStore, { isNewSecret }: { isNewSecret: boolean }): void {
    if (isNewSecret && store.size >= MAX_SECRETS_PER_REGION) {
      throw limitExceeded(`You can't have more than ${MAX_SECRETS_PER_REGION} secrets in a region.`);
    }
    let bytes = 0;
    for (const store of this.#stores.values()) bytes += store.bytes;
    if (bytes >= MAX_BYTES) throw limitExceeded('The sandbox is limited to 1 GiB of values.');
  }

  replay(record: RegionRecord): void {
    const [account = '', region = ''] = record.shelf.split('/');
    this.of(account, region).replay(record);
  }

  *snapshot(): Generator<RegionRecord> {
    for (const store of this.#stores.values()) yield* store.snapshot();
  }

  clear(): void {
    this.#stores.clear();
  }
}
