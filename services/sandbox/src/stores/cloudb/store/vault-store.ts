import { History } from '../../../simulation/history.ts';
import { conflict, secretNotFound } from '../vault-error.ts';
import { type Secret, type SecretRow, type SecretVersion, sizeOf, toRow } from './secret.ts';

/** A change in one vault, as it is persisted. The field names are the journal's format. */
export type VaultRecord =
  | { vault: string; secret: SecretRow; version?: SecretVersion | undefined }
  | { vault: string; gone: string };

const keyOf = (name: string) => name.toLowerCase();

/** The secrets of one vault. All changes go through `save` or `purge`, which persist them. */
export class VaultStore {
  /** Its host name. */
  readonly host: string;
  readonly #secrets = new Map<string, Secret>();
  readonly #persist: (record: VaultRecord) => void;
  readonly #now: () => number;
  readonly #history: History<Secret>;
  #bytes = 0;

  constructor(host: string, persist: (record: VaultRecord) => void, now: () => number) {
    this.host = host;
    this.#persist = persist;
    this.#now = now;
    this.#history = new History(
      (secret) => ({
        ...secret,
        versions: new Map(secret.versions),
        transition: secret.transition && { ...secret.transition },
      }),
      now,
    );
  }

  /** The secrets as they were at a time, to be read only. */
  asOf(ms: number): VaultStore {
    const view = new VaultStore(
      this.host,
      () => {},
      () => ms,
    );
    for (const secret of this.#history.at(ms)) view.#put(secret, undefined);
    return view;
  }

  /** Total size of all values. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The secret with this name, whatever its state; what has become of it by now is carried out first. */
  get(name: string): Secret | undefined {
    const secret = this.#secrets.get(keyOf(name));
    if (!secret) return undefined;
    const nowMs = this.#now();
    if (secret.transition && secret.transition.untilMs <= nowMs) settle(secret);
    const isPurged = secret.deletedAtMs !== undefined && (secret.purgeAtMs ?? 0) <= nowMs;
    if (!isPurged) return secret;
    this.#purge(secret);
    return undefined;
  }

  /** @throws VaultError if the secret does not exist, is deleted, or is being deleted or recovered */
  active(name: string): Secret {
    const secret = this.get(name);
    if (!secret || secret.transition || secret.deletedAtMs !== undefined) throw secretNotFound(name);
    return secret;
  }

  /** @throws VaultError if there is no deleted secret of this name, or it is in a transition */
  deleted(name: string): Secret {
    const secret = this.get(name);
    if (secret?.transition) throw inTransition(secret);
    if (secret?.deletedAtMs === undefined) throw secretNotFound(name);
    return secret;
  }

  all(): Secret[] {
    return [...this.#secrets.keys()].map((name) => this.get(name)).filter((secret) => secret !== undefined);
  }

  /** Stores and persists a secret, with the version that is new or has changed. */
  save(secret: Secret, version?: SecretVersion): void {
    this.#put(secret, version);
    this.#history.record(keyOf(secret.name), secret);
    this.#persist({ vault: this.host, secret: toRow(secret), version });
  }

  replay(record: VaultRecord): void {
    const key = keyOf('gone' in record ? record.gone : record.secret.name);
    const known = this.#secrets.get(key);
    if (!('gone' in record))
      this.#put({ ...record.secret, versions: known?.versions ?? new Map() }, record.version);
    else if (known) this.#remove(known);
    this.#history.load(key, this.#secrets.get(key));
  }

  *snapshot(): Generator<VaultRecord> {
    for (const secret of this.#secrets.values())
      for (const version of secret.versions.values())
        yield { vault: this.host, secret: toRow(secret), version };
  }

  #put(secret: Secret, version: SecretVersion | undefined): void {
    this.#secrets.set(keyOf(secret.name), secret);
    if (!version) return;
    if (!secret.versions.has(version.id)) this.#bytes += sizeOf(version);
    secret.versions.set(version.id, version);
  }

  #remove(secret: Secret): void {
    this.#secrets.delete(keyOf(secret.name));
    for (const version of secret.versions.values()) this.#bytes -= sizeOf(version);
  }

  #purge(secret: Secret): void {
    this.#remove(secret);
    this.#history.record(keyOf(secret.name), undefined);
    this.#persist({ vault: this.host, gone: secret.name });
  }
}

/** The error of a write to a secret that is being deleted, purged or recovered. */
export function inTransition({ name, transition }: Secret): Error {
  return transition?.to === 'active'
    ? conflict(
        'ObjectIsBeingRecovered',
        `Secret ${name} is currently being recovered and cannot be re-created; retry later.`,
      )
    : conflict(
        'ObjectIsBeingDeleted',
        `Secret ${name} is currently being deleted and cannot be re-created; retry later.`,
      );
}

/** Derived from the time, so it is not persisted. */
function settle(secret: Secret): void {
  const { to } = secret.transition ?? {};
  secret.transition = undefined;
  if (to === 'active') {
    secret.deletedAtMs = undefined;
    secret.purgeAtMs = undefined;
  }
  if (to === 'purged') secret.purgeAtMs = 0;
}
