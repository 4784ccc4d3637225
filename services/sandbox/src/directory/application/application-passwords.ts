import { randomInt, timingSafeEqual } from 'node:crypto';
import type { SimulationContext } from '../../simulation/simulation.ts';
import { guidFrom } from '../identity.ts';
import type { Application } from './application.ts';

const YEAR_MS = 365 * 24 * 3_600_000;
const KEPT_AFTER_REMOVAL_MS = 600_000;
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~';

/** A password of the application. The field names are the journal's format. */
export interface ApplicationPassword {
  keyId: string;
  displayName: string | null;
  secretText: string;
  createdAtMs: number;
  startMs: number;
  endMs: number;
  /** When the token endpoint knows it. */
  worksFromMs: number;
  removedAtMs?: number;
  /** Until when the token endpoint accepts it after its removal. */
  worksUntilMs?: number;
}

/** Properties of a new password that a client may request. */
export interface NewPassword {
  displayName?: string | null | undefined;
  startMs?: number | undefined;
  endMs?: number | undefined;
  /** Default: random. */
  secretText?: string | undefined;
}

/** The passwords of an application. Like the real directory, it may take a while until a change takes effect. */
export class ApplicationPasswords {
  readonly #first: Pick<ApplicationPassword, 'keyId' | 'secretText'>;
  readonly #now: () => number;
  readonly #persist: (record: object) => void;
  #byId = new Map<string, ApplicationPassword>();

  constructor(
    { clientId, clientSecret }: Pick<Application, 'clientId' | 'clientSecret'>,
    { now, persist }: Pick<SimulationContext, 'now' | 'persist'>,
  ) {
    this.#first = { keyId: guidFrom(`password of ${clientId}`), secretText: clientSecret };
    this.#now = now;
    this.#persist = persist;
    this.restoreFirst();
  }

  /** Adds a password that works after a delay. */
  add({ displayName, startMs, endMs, secretText }: NewPassword, delayMs: number): ApplicationPassword {
    const nowMs = this.#now();
    const start = startMs ?? nowMs;
    const password: ApplicationPassword = {
      keyId: crypto.randomUUID(),
      displayName: displayName ?? null,
      secretText: secretText ?? randomSecret(),
      createdAtMs: nowMs,
      startMs: start,
      endMs: endMs ?? start + 2 * YEAR_MS,
      worksFromMs: nowMs + delayMs,
    };
    this.#save(password);
    return password;
  }

  /** Removes a password, which is accepted for a while longer. Returns false if there is none with this ID. */
  remove(keyId: string, delayMs: number): boolean {
    const password = this.#byId.get(keyId.toLowerCase());
    if (!password || password.removedAtMs !== undefined) return false;
    const nowMs = this.#now();
    this.#save({ ...password, removedAtMs: nowMs, worksUntilMs: nowMs + delayMs });
    return true;
  }

  /** Those that are not removed, as they were `staleMs` ago; oldest first. Includes those that have expired. */
  list(staleMs = 0): ApplicationPassword[] {
    const atMs = this.#now() - staleMs;
    return [...this.#byId.values()].filter(
      ({ createdAtMs, removedAtMs }) =>
        (staleMs === 0 || createdAtMs <= atMs) &&
        (removedAtMs === undefined || (staleMs > 0 && removedAtMs > atMs)),
    );
  }

  /** How the token endpoint sees a password that a client sends. */
  check(secretText: string): 'accepted' | 'expired' | 'unknown' {
    const nowMs = this.#now();
    const known = [...this.#byId.values()].find(
      (password) =>
        isEqual(secretText, password.secretText) &&
        nowMs >= Math.max(password.startMs, password.worksFromMs) &&
        (password.removedAtMs === undefined || nowMs < (password.worksUntilMs ?? 0)),
    );
    if (!known) return 'unknown';
    return nowMs < known.endMs ? 'accepted' : 'expired';
  }

  /** Discards all passwords but the first one, which follows from the seed. */
  restoreFirst(): void {
    const password: ApplicationPassword = {
      ...this.#first,
      displayName: 'sandbox',
      createdAtMs: 0,
      startMs: Date.UTC(2020),
      endMs: Date.UTC(2100),
      worksFromMs: 0,
    };
    this.#byId = new Map([[password.keyId, password]]);
  }

  replay(record: object): void {
    if ('passwordsEmptied' in record) this.#byId.clear();
    if ('password' in record) this.#set(record.password as ApplicationPassword);
  }

  snapshot(): object[] {
    return [{ passwordsEmptied: true }, ...[...this.#byId.values()].map((password) => ({ password }))];
  }

  #save(password: ApplicationPassword): void {
    this.#persist({ password });
    this.#set(password);
    this.#forgetRemoved();
  }

  #set(password: ApplicationPassword): void {
    this.#byId.set(password.keyId.toLowerCase(), password);
  }

  #forgetRemoved(): void {
    for (const [id, { worksUntilMs }] of this.#byId)
      if (worksUntilMs !== undefined && worksUntilMs + KEPT_AFTER_REMOVAL_MS < this.#now())
        this.#byId.delete(id);
  }
}

/** The first characters of a password, which is all that responses show later. */
export const hintOf = ({ secretText }: ApplicationPassword): string => secretText.slice(0, 3);

/** Has the form of the real ones. */
function randomSecret(): string {
  const characters = (count: number) =>
    Array.from({ length: count }, () => alphabet[randomInt(alphabet.length)]).join('');
  return `${characters(3)}8Q~${characters(34)}`;
}

const isEqual = (sent: string, expected: string): boolean =>
  Buffer.byteLength(sent) === Buffer.byteLength(expected) &&
  timingSafeEqual(Buffer.from(sent), Buffer.from(expected));
