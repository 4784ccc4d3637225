import { randomBytes } from 'node:crypto';
import { History } from '../../../simulation/history.ts';
import { GoogleError } from '../google-error.ts';
import { type Secret, type SecretRow, type SecretVersion, sizeOf, toRow } from './secret.ts';

const MAX_BYTES = 1024 * 1024 * 1024;

/** A change, as it is persisted. The field names are the journal's format: existing files depend on them. */
export type SecretRecord = { secret: SecretRow; version?: SecretVersion | undefined } | { gone: SecretRef };

/** A secret of a project or, with a location, of a region of it. */
export type SecretRef = Pick<Secret, 'project' | 'id' | 'location'>;

/** The secrets of every project. All changes go through `save` or `delete`, which persist them. */
export class SecretStore {
  readonly #secrets = new Map<string, Secret>();
  readonly #persist: (record: SecretRecord) => void;
  readonly #history: History<Secret>;
  #bytes = 0;
  #lastPosition = 0;

  constructor(persist: (record: SecretRecord) => void, now: () => number) {
    this.#persist = persist;
    this.#history = new History((secret) => ({ ...secret, versions: new Map(secret.versions) }), now);
  }

  /** The secrets as they were at a time, to be read only. */
  asOf(ms: number): SecretStore {
    const view = new SecretStore(
      () => {},
      () => ms,
    );
    const secrets = this.#history.at(ms).sort((one, other) => one.position - other.position);
    for (const secret of secrets) view.#put(secret);
    return view;
  }

  get(ref: SecretRef): Secret | undefined {
    return this.#secrets.get(keyOf(ref));
  }

  /** All secrets, in order of creation. */
  all(): Iterable<Secret> {
    return this.#secrets.values();
  }

  nextPosition(): number {
    return this.#lastPosition + 1;
  }

  /** Stores and persists a secret, with a version that is new or changed. */
  save(secret: Secret, version?: SecretVersion): void {
    if (this.#bytes >= MAX_BYTES)
      throw new GoogleError('RESOURCE_EXHAUSTED', 'The sandbox is limited to 1 GiB of values.');
    this.#put(secret, version);
    this.#history.record(keyOf(secret), secret);
    this.#persist({ secret: toRow(secret), version });
  }

  delete({ project, id, location }: Secret): void {
    const gone = { project, id, ...(location === undefined ? {} : { location }) };
    this.#remove(gone);
    this.#history.record(keyOf(gone), undefined);
    this.#persist({ gone });
  }

  clear(): void {
    this.#secrets.clear();
    this.#history.clear();
    this.#bytes = 0;
  }

  replay(record: SecretRecord): void {
    if ('gone' in record) {
      this.#remove(record.gone);
      this.#history.load(keyOf(record.gone), undefined);
      return;
    }
    const existing = this.get(record.secret);
    const versions = existing?.position === record.secret.position ? existing.versions : new Map();
    const secret = { ...record.secret, versions };
    this.#put(secret, record.version);
    this.#history.load(keyOf(secret), secret);
  }

  *snapshot(): Generator<SecretRecord> {
    for (const secret of this.#secrets.values()) {
      yield { secret: toRow(secret) };
      for (const version of secret.versions.values()) yield { secret: toRow(secret), version };
    }
  }

  #put(secret: Secret, version?: SecretVersion): void {
    this.#secrets.set(keyOf(secret), secret);
    this.#lastPosition = Math.max(this.#lastPosition, secret.position);
    if (version === undefined) return;
    const replaced = secret.versions.get(version.number);
    this.#bytes += sizeOf(version) - (replaced === undefined ? 0 : sizeOf(replaced));
    secret.versions.set(version.number, version);
  }

  #remove(ref: SecretRef): void {
    for (const version of this.get(ref)?.versions.values() ?? []) this.#bytes -= sizeOf(version);
    this.#secrets.delete(keyOf(ref));
  }
}

const keyOf = ({ project, id, location }: SecretRef): string => `${project}/${location ?? ''}/${id}`;

/** A new entity tag. It is quoted, as in the real service. */
export const newEtag = (): string => `"${randomBytes(7).toString('hex')}"`;
