import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RowGuard } from '@secrets/access';
import type { Caller } from '@secrets/caller';
import type { Db } from '@secrets/db';
import { Problem } from '@secrets/domain';
import { type Logger, logFailure } from '@secrets/telemetry';
import {
  deleteOldEvents,
  type EventPosition,
  keepListening,
  readEvents,
  readHorizon,
} from '../../queries/events/events.ts';
import { Audience, audienceKey, Listener } from './listener.ts';
import type { Subscription } from './subscription.ts';

/** Events that are read at once. */
const pageSize = 500;

/** Clients that listen to this process, and in one namespace. */
const maxListeners = 1_000;
const maxOfNamespace = 500;

/** Milliseconds without a read of the events after which some may have been deleted: listeners have to connect again. */
const maxSilenceMs = 60_000;

/** Milliseconds that a client waits for transactions that began before it did. */
const maxHorizonMs = 10_000;

interface FeedOptions {
  db: Db;
  /** For what all listeners share. */
  backgroundDb: Db;
  rows: RowGuard;
  log: Logger;
}

/**
 * Sends changes of secrets to those who listen to this process. They share one statement, which runs only while there are any,
 * as is recorded only while there are any in some process.
 */
export class SecretEventFeed {
  readonly #options: FeedOptions;
  readonly #audiences = new Map<string, { audience: Audience; listeners: number }>();
  readonly #listeners = new Map<Listener, string>();
  /** Namespaces of those that listen, or are about to. */
  readonly #opened = new Map<string, number>();
  #position: EventPosition | undefined;
  #readAt = 0;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  /**
   * Prepares what a caller listens to from now on: changes by transactions that begin later. Returns a function that begins with
   * the response.
   * @throws a problem: `rate_limited` if too many listen, `unavailable` if an older transaction does not end in time
   */
  async open(caller: Caller, subscription: Subscription): Promise<(response: ServerResponse) => void> {
    const { id } = caller.namespace;
    this.#admit(id);
    try {
      const xid = await this.#begin();
      return (response) => {
        response.once('close', () => this.#leave(id));
        this.#start(response, { caller, subscription, begin: { xid, id: 0n } });
      };
    } catch (error) {
      this.#leave(id);
      throw error;
    }
  }

  /** Sends the events since the last call. */
  async advance(): Promise<void> {
    if (this.#listeners.size === 0) this.#position = undefined;
    let isMore = true;
    while (isMore && this.#position !== undefined) {
      if (performance.now() - this.#readAt > maxSilenceMs) return this.#endAll();
      const after = this.#position;
      const { rows, horizon, accessEpoch } = await readEvents(this.#options.backgroundDb, after, pageSize);
      this.#readAt = performance.now();
      // Commits were lost in a failover, and their numbers are used again.
      if (horizon < after.xid) return this.#endAll();
      isMore = rows.length === pageSize;
      const last = rows.at(-1);
      this.#position =
        isMore && last ? { xid: BigInt(last.xid), id: BigInt(last.id) } : { xid: horizon, id: 0n };
      for (const [audience, listeners] of Map.groupBy(this.#listeners.keys(), (one) => one.audience))
        await this.#deliver(audience, listeners, rows, accessEpoch);
    }
  }

  /** To be called every few seconds. */
  async keepAlive(): Promise<void> {
    for (const listener of this.#listeners.keys()) listener.keepAlive();
    if (this.#opened.size > 0) await keepListening(this.#options.backgroundDb);
  }

  /** Deletes what everybody has read. */
  async sweep(isStopping: () => boolean): Promise<void> {
    while (!isStopping()) if ((await deleteOldEvents(this.#options.backgroundDb, 5_000)) < 5_000) return;
  }

  /** Ends all listeners. */
  stop(): void {
    this.#endAll();
  }

  #admit(namespaceId: string): void {
    const ofNamespace = this.#opened.get(namespaceId) ?? 0;
    const all = [...this.#opened.values()].reduce((sum, count) => sum + count, 0);
    if (all >= maxListeners || ofNamespace >= maxOfNamespace)
      throw new Problem('rate_limited', 'too many clients listen to the events of secrets', {
        retryAfterSeconds: 10,
      });
    this.#opened.set(namespaceId, ofNamespace + 1);
  }

  #leave(namespaceId: string): void {
    const rest = (this.#opened.get(namespaceId) ?? 1) - 1;
    if (rest === 0) this.#opened.delete(namespaceId);
    else this.#opened.set(namespaceId, rest);
  }

  /** Has changes recorded, and waits until no transaction is running that may not record its own. */
  async #begin(): Promise<bigint> {
    const { db } = this.#options;
    const since = await keepListening(db);
    const deadline = performance.now() + maxHorizonMs;
    for (;;) {
      const horizon = await readHorizon(db);
      if (horizon > since) return horizon;
      if (performance.now() > deadline)
        throw new Problem('unavailable', 'a transaction of the database takes too long; try again');
      await sleep(50);
    }
  }

  #start(
    response: ServerResponse,
    listening: { caller: Caller; subscription: Subscription; begin: EventPosition },
  ): void {
    const key = audienceKey(listening.caller);
    const shared = this.#audiences.get(key) ?? { audience: new Audience(listening.caller), listeners: 0 };
    this.#audiences.set(key, shared);
    shared.listeners += 1;
    const listener = new Listener(response, { ...listening, audience: shared.audience });
    this.#listeners.set(listener, key);
    response.once('close', () => {
      this.#listeners.delete(listener);
      shared.listeners -= 1;
      if (shared.listeners === 0) this.#audiences.delete(key);
    });
    response.once('stopping', () => listener.end());
    if (this.#position === undefined) {
      this.#position = listening.begin;
      this.#readAt = performance.now();
    }
    listener.keepAlive();
  }

  async #deliver(
    audience: Audience,
    listeners: readonly Listener[],
    rows: Parameters<Listener['send']>[0],
    accessEpoch: string,
  ): Promise<void> {
    const { backgroundDb: db, rows: guard, log } = this.#options;
    if (rows.length === 0) return;
    try {
      await audience.follow({ db, rows: guard }, accessEpoch);
    } catch (error) {
      logFailure(log, { error }, 'the policies of those who listen to events cannot be read');
      for (const listener of listeners) listener.end();
      return;
    }
    for (const listener of listeners) listener.send(rows, 'secrets');
  }

  #endAll(): void {
    for (const listener of this.#listeners.keys()) listener.end();
    this.#position = undefined;
  }
}
