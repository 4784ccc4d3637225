import { notFound } from '../aws-error.ts';
import { fromRow, type Secret, type SecretRow, type SecretVersion, sizeOf, toRow } from './secret.ts';

const MOST_DEPARTED = 1000;

/** A change of one shelf, as it is kept. */
export type ShelfRecord =
  | { shelf: string; secret: SecretRow; version?: SecretVersion | undefined; dropped?: string[] | undefined }
  | { shelf: string; gone: string };

/** The secrets of one account in one region. Every change goes through `save` or `drop`, which keep it. */
export class SecretShelf {
  readonly key: string;
  readonly account: string;
  readonly region: string;
  readonly #secrets = new Map<string, Secret>();
  readonly #keep: (record: ShelfRecord) => void;
  readonly #now: () => number;
  #departed: { secret: Secret; atMs: number }[] = [];
  #bytes = 0;
  #lastPosition = 0;

  constructor(account: string, region: string, keep: (record: ShelfRecord) => void, now: () => number) {
    this.key = `${account}/${region}`;
    this.account = account;
    this.region = region;
    this.#keep = keep;
    this.#now = now;
  }

  get size(): number {
    return this.#secrets.size;
  }

  /** Bytes of all values held. */
  get bytes(): number {
    return this.#bytes;
  }

  nextPosition(): number {
    return this.#lastPosition + 1;
  }

  /** The secret of that name, one on its way out included. */
  named(name: string): Secret | undefined {
    const secret = this.#secrets.get(name);
    if (secret?.purgeAtMs === undefined || secret.purgeAtMs > this.#now()) return secret;
    this.drop(secret);
    return undefined;
  }

  /**
   * The secret of that name, ARN, or ARN without its six random characters; scheduled for deletion or not.
   * @throws AwsRefusal ResourceNotFoundException, also for one that is deleted without recovery
   */
  find(secretId: string): Secret {
    const secret = this.named(secretId) ?? this.#byArn(secretId);
    if (!secret || secret.forced) throw notFound("Secrets Manager can't find the specified secret.");
    return secret;
  }

  #byArn(arn: string): Secret | undefined {
    const prefix = `arn:aws:secretsmanager:${this.region}:${this.account}:secret:`;
    if (!arn.startsWith(prefix)) return undefined;
    const rest = arn.slice(prefix.length);
    const exact = this.named(rest.slice(0, -7));
    return exact?.arn === arn ? exact : this.named(rest);
  }

  /** Every secret that exists now, in order of creation. */
  *all(): Generator<Secret> {
    for (const name of this.#secrets.keys()) {
      const secret = this.named(name);
      if (secret) yield secret;
    }
  }

  /** Secrets that were purged after that moment; the newest thousand are remembered. */
  departedSince(atMs: number): Secret[] {
    return this.#departed.filter((departure) => departure.atMs > atMs).map(({ secret }) => secret);
  }

  /** Puts a secret in its place and keeps it, with the version that is new and those that were pruned. */
  save(secret: Secret, version?: SecretVersion, dropped?: string[]): void {
    this.#place(secret, version, dropped);
    this.#keep({ shelf: this.key, secret: toRow(secret), version, dropped });
  }

  drop(secret: Secret): void {
    this.#forget(secret);
    this.#departed = [...this.#departed.slice(1 - MOST_DEPARTED), { secret, atMs: this.#now() }];
    this.#keep({ shelf: this.key, gone: secret.name });
  }

  replay(record: ShelfRecord): void {
    if ('gone' in record) {
      const gone = this.#secrets.get(record.gone);
      if (gone) this.#forget(gone);
      return;
    }
    const present = this.#secrets.get(record.secret.name);
    const versions = present?.arn === record.secret.arn ? present.versions : new Map();
    this.#place(fromRow(record.secret, versions), record.version, record.dropped);
  }

  *snapshot(): Generator<ShelfRecord> {
    for (const secret of this.#secrets.values()) {
      const row = toRow(secret);
      if (secret.versions.size === 0) yield { shelf: this.key, secret: row };
      for (const version of secret.versions.values()) yield { shelf: this.key, secret: row, version };
    }
  }

  #place(secret: Secret, version?: SecretVersion, dropped: string[] = []): void {
    this.#secrets.set(secret.name, secret);
    this.#lastPosition = Math.max(this.#lastPosition, secret.position);
    for (const id of dropped) this.#removeVersion(secret, id);
    if (!version) return;
    this.#removeVersion(secret, version.id);
    secret.versions.set(version.id, version);
    this.#bytes += sizeOf(version);
  }

  #removeVersion(secret: Secret, id: string): void {
    const version = secret.versions.get(id);
    if (!version) return;
    this.#bytes -= sizeOf(version);
    secret.versions.delete(id);
  }

  #forget(secret: Secret): void {
    for (const version of secret.versions.values()) this.#bytes -= sizeOf(version);
    this.#secrets.delete(secret.name);
  }
}
