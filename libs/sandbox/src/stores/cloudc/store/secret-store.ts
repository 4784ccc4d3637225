import { randomBytes } from 'node:crypto';
import { GoogleError } from '../google-error.ts';
import { type Secret, type SecretRow, type SecretVersion, sizeOf, toRow } from './secret.ts';

const MAX_BYTES = 1024 * 1024 * 1024;
const MAX_DELETED = 1000;

/** A change, as it is persisted. The field names are the journal's format: existing files depend on them. */
export type SecretRecord =
  | { secret: SecretRow; version?: SecretVersion | undefined }
  | { gone: { project: string; id: string } };

/** The secrets of every project. All changes go through `save` or `delete`, which persist them. */
export class SecretStore {
  readonly #secrets = new Map<string, Secret>();
  readonly #persist: (record: SecretRecord) => void;
  #deleted: { secret: Secret; atMs: number }[] = [];
  #bytes = 0;
  #lastPosition = 0;

  constructor(persist: (record: SecretRecord) => void) {
    this.#persist = persist;
  }

  get(project: string, id: string): Secret | undefined {
    return this.#secrets.get(keyOf(project, id));
  }

  /** All secrets, in order of creation. */
  all(): Iterable<Secret> {
    return this.#secrets.values();
  }

  nextPosition(): number {
    return this.#lastPosition + 1;
  }

  /** Secrets that were deleted after `atMs`; only the last thousand are remembered. */
  deletedSince(atMs: number): Secret[] {
    return this.#deleted.filter((deletion) => deletion.atMs > atMs).map(({ secret }) => secret);
  }

  /** Stores and persists a secret, with a version that is new or changed. */
  save(secret: Secret, version?: SecretVersion): void {
    if (this.#bytes >= MAX_BYTES)
      throw new GoogleError('RESOURCE_EXHAUSTED', 'The sandbox is limited to 1 GiB of values.');
    this.#put(secret, version);
    this.#persist({ secret: toRow(secret), version });
  }

  delete(secret: Secret, nowMs: number): void {
    const { project, id } = secret;
    this.#remove(project, id);
    this.#deleted = [...this.#deleted.slice(1 - MAX_DELETED), { secret, atMs: nowMs }];
    this.#persist({ gone: { project, id } });
  }

  clear(): void {
    this.#secrets.clear();
    this.#deleted = [];
    this.#bytes = 0;
  }

  replay(record: SecretRecord): void {
    if ('gone' in record) {
      this.#remove(record.gone.project, record.gone.id);
      return;
    }
    const existing = this.get(record.secret.project, record.secret.id);
    const versions = existing?.position === record.secret.position ? existing.versions : new Map();
    this.#put({ ...record.secret, versions }, record.version);
  }

  *snapshot(): Generator<SecretRecord> {
    for (const secret of this.#secrets.values()) {
      yield { secret: toRow(secret) };
      for (const version of secret.versions.values()) yield { secret: toRow(secret), version };
    }
  }

  #put(secret: Secret, version?: SecretVersion): void {
    this.#secrets.set(keyOf(secret.project, secret.id), secret);
    this.#lastPosition = Math.max(this.#lastPosition, secret.position);
    if (version === undefined) return;
    const replaced = secret.versions.get(version.number);
    this.#bytes += sizeOf(version) - (replaced === undefined ? 0 : sizeOf(replaced));
    secret.versions.set(version.number, version);
  }

  #remove(project: string, id: string): void {
    for (const version of this.get(project, id)?.versions.values() ?? []) this.#bytes -= sizeOf(version);
    this.#secrets.delete(keyOf(project, id));
  }
}

const keyOf = (project: string, id: string): string => `${project}/${id}`;

/** A new entity tag. It is quoted, as in the real service. */
export const newEtag = (): string => `"${randomBytes(7).toString('hex')}"`;
