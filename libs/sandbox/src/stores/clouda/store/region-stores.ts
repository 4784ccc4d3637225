import { AwsRefusal, limitExceeded } from '../aws-error.ts';
import { SecretShelf, type ShelfRecord } from './region-store.ts';

const MOST_SHELVES = 200;
const MOST_BYTES = 1024 * 1024 * 1024;
/** Quota of the real service: secrets per region and account. */
const MOST_SECRETS = 500_000;
const REGION = /^[a-z]{2}(-[a-z]+){1,3}-\d{1,2}$/;

/** One shelf per account and region; they know nothing of each other. */
export class SecretShelves {
  readonly #shelves = new Map<string, SecretShelf>();
  readonly #keep: (record: ShelfRecord) => void;
  readonly #now: () => number;

  constructor(keep: (record: ShelfRecord) => void, now: () => number) {
    this.#keep = keep;
    this.#now = now;
  }

  /** @throws AwsRefusal for what is no region, or when the sandbox has as many shelves as it can hold */
  of(account: string, region: string): SecretShelf {
    const key = `${account}/${region}`;
    const present = this.#shelves.get(key);
    if (present) return present;
    if (!REGION.test(region))
      throw new AwsRefusal('InvalidSignatureException', `'${region}' is not a region.`);
    if (this.#shelves.size >= MOST_SHELVES) throw limitExceeded(`The sandbox holds ${MOST_SHELVES} regions.`);
    const shelf = new SecretShelf(account, region, this.#keep, this.#now);
    this.#shelves.set(key, shelf);
    return shelf;
  }

  all(): Iterable<SecretShelf> {
    return this.#shelves.values();
  }

  /** @throws AwsRefusal LimitExceededException when `shelf` or the sandbox is full */
  mustHaveRoom(shelf: SecretShelf, forNewSecret: boolean): void {
    if (forNewSecret && shelf.size >= MOST_SECRETS) {
      throw limitExceeded(`You can't have more than ${MOST_SECRETS} secrets in a region.`);
    }
    let bytes = 0;
    for (const { bytes: held } of this.#shelves.values()) bytes += held;
    if (bytes >= MOST_BYTES) throw limitExceeded('The sandbox holds 1 GiB of values and takes no more.');
  }

  replay(record: ShelfRecord): void {
    const [account = '', region = ''] = record.shelf.split('/');
    this.of(account, region).replay(record);
  }

  *snapshot(): Generator<ShelfRecord> {
    for (const shelf of this.#shelves.values()) yield* shelf.snapshot();
  }

  clear(): void {
    this.#shelves.clear();
  }
}
