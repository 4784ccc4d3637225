import { History } from '../../../simulation/history.ts';
import { notFound } from '../aws-error.ts';
import { fromRow, type Secret, type SecretRow, type SecretVersion, sizeOf, toRow } from './secret.ts';

/**
 * A change in one region, as it is persisted. The field names are the journal's format: existing files depend on them.
 * `shelf` is the region's key, `dropped` are pruned versions, and `gone` is the name of a purged secret.
 */
export type RegionRecord =
  | { shelf: string; secret: SecretRow; version?: SecretVersion | undefined; dropped?: string[] | undefined }
  | { shelf: string; gone: string };

/** The secrets of one account in one region. All changes go through `save` or `purge`, which persist them. */
export class RegionStore {
  readonly key: string;
  readonly account: string;
  readonly region: string;
  readonly #secrets = new Map<string, Secret>();
  readonly #persist: (record: RegionRecord) => void;
  readonly #now: () => number;
  readonly #history: History<Secret>;
  #bytes = 0;
  #lastPosition = 0;

  constructor(account: string, region: string, persist: (record: RegionRecord) => void, now: () => number) {
    this.key = `${account}/${region}`;
    this.account = account;
    this.region = region;
    this.#persist = persist;
    this.#now = now;
    this.#history = new History((secret) => fromRow(toRow(secret), new Map(secret.versions)), now);
  }

  /** The secrets as they were at a time, to be read only. */
  asOf(ms: number): RegionStore {
    const view = new RegionStore(
      this.account,
      this.region,
      () => {},
      () => ms,
    );
    const secrets = this.#history.at(ms).sort((one, other) => one.position - other.position);
    for (const secret of secrets) view.#put(secret);
    return view;
  }

  get size(): number {
    return this.#secrets.size;
  }

  /** Total size of all values. */
  get bytes(): number {
    return this.#bytes;
  }

  nextPosition(): number {
    return this.#lastPosition + 1;
  }

  /** The secret with this name, including one that is scheduled for deletion. */
  get(name: string): Secret | undefined {
    const secret = this.#secrets.get(name);
    if (secret?.purgeAtMs === undefined || secret.purgeAtMs > this.#now()) return secret;
    this.purge(secret);
    return undefined;
  }

  /**
   * The secret with this name, ARN, or ARN without its six random characters, even if it is scheduled for deletion.
   * @throws AwsError ResourceNotFoundException, also for a secret that was deleted without recovery
   */
  find(secretId: string): Secret {
    const secret = this.get(secretId) ?? this.#byArn(secretId);
    if (!secret || secret.forced) throw notFound("Secrets Manager can't find the specified secret.");
    return secret;
  }

  #byArn(arn: string): Secret | undefined {
    const prefix = `arn:aws:secretsmanager:${this.region}:${this.account}:secret:`;
    if (!arn.startsWith(prefix)) return undefined;
    const rest = arn.slice(prefix.length);
    const exact = this.get(rest.slice(0, -7));
    return exact?.arn === arn ? exact : this.get(rest);
  }

  /** All secrets, in order of creation. */
  *all(): Generator<Secret> {
    for (const name of this.#secrets.keys()) {
      const secret = this.get(name);
      if (secret) yield secret;
    }
  }

  /** Stores and persists a secret, with its new version and the IDs of its pruned versions. */
  save(secret: Secret, version?: SecretVersion, dropped?: string[]): void {
    this.#put(secret, version, dropped);
    this.#history.record(secret.name, secret);
    this.#persist({ shelf: this.key, secret: toRow(secret), version, dropped });
  }

  /** Removes a secret for good. */
  purge(secret: Secret): void {
    this.#remove(secret);
    this.#history.record(secret.name, undefined);
    this.#persist({ shelf: this.key, gone: secret.name });
  }

  replay(record: RegionRecord): void {
    if ('gone' in record) {
      const gone = this.#secrets.get(record.gone);
      if (gone) this.#remove(gone);
      this.#history.load(record.gone, undefined);
      return;
    }
    const existing = this.#secrets.get(record.secret.name);
    const versions = existing?.arn === record.secret.arn ? existing.versions : new Map();
    const secret = fromRow(record.secret, versions);
    this.#put(secret, record.version, record.dropped);
    this.#history.load(secret.name, secret);
  }

  *snapshot(): Generator<RegionRecord> {
    for (const secret of this.#secrets.values()) {
      const row = toRow(secret);
      if (secret.versions.size === 0) yield { shelf: this.key, secret: row };
      for (const version of secret.versions.values()) yield { shelf: this.key, secret: row, version };
    }
  }

  #put(secret: Secret, version?: SecretVersion, dropped: string[] = []): void {
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

  #remove(secret: Secret): void {
    for (const version of secret.versions.values()) this.#bytes -= sizeOf(version);
    this.#secrets.delete(secret.name);
  }
}
