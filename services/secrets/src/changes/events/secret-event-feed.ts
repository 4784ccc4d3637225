import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Audience, Audiences, forEachAudience, type RowGuard } from '@secrets/access';
import type { Caller } from '@secrets/caller';
import type { Db } from '@secrets/db';
import { Problem } from '@secrets/domain';
import { type Logger, logFailure } from '@secrets/telemetry';
import {
  deleteOldEvents,
  type EventPage,
  type EventPosition,
  type EventRow,
  keepListening,
  readEvents,
  readHorizon,
} from '../../queries/events/events.ts';
import type { PresentEvent } from './cloud-event.ts';
import { Listener, seenEvents } from './listener.ts';
import type { Subscription } from './subscription.ts';

/** Events that are read at once. */
const pageSize = 500;

/** Clients that listen to this process, and in one namespace. */
const maxListeners = 1_000;
const maxOfNamespace = 500;

/**
 * Milliseconds after which listeners have to connect again if no read was complete up to here: because none was made, or because
 * an older transaction is running. It takes at most twice as long until that is known, and then events are deleted.
 */
const maxLagMs = 55_000;

/** Milliseconds that a client waits for transactions that began before it did. */
const maxHorizonMs = 10_000;

/** Milliseconds for which changes are recorded after `keepListening`. */
const recordedMs = 60_000;

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
  readonly #audiences = new Audiences();
  readonly #listeners = new Set<Listener>();
  /** Namespaces of those that listen, or are about to. */
  readonly #opened = new Map<string, number>();
  #position: EventPosition | undefined;
  /** The newest transaction at a time. Once none that is older is running, it moves on. */
  #mark = { xid: 0n, atMs: 0 };
  /** The time before which recording was last prolonged. */
  #prolongedAtMs = 0;

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
        if (response.destroyed) return this.#leave(id);
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
      if (performance.now() - this.#mark.atMs > maxLagMs) return this.#endAll();
      const after = this.#position;
      const page = await readEvents(this.#options.backgroundDb, after, pageSize);
      const { rows, horizon } = page;
      // Commits were lost in a failover, and their numbers are used again.
      if (horizon < after.xid) return this.#endAll();
      isMore = rows.length === pageSize;
      if (!isMore && horizon >= this.#mark.xid) this.#mark = { xid: page.newest, atMs: performance.now() };
      const last = rows.at(-1);
      this.#position =
        isMore && last ? { xid: BigInt(last.xid), id: BigInt(last.id) } : { xid: horizon, id: 0n };
      await forEachAudience(this.#listeners, (audience, listeners) =>
        this.#deliver(audience, listeners, page),
      );
    }
  }

  /** To be called every few seconds. */
  async keepAlive(): Promise<void> {
    for (const listener of this.#listeners) listener.keepAlive();
    if (this.#opened.size > 0) await this.#prolong(this.#options.backgroundDb);
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
    const since = await this.#prolong(db);
    const deadline = performance.now() + maxHorizonMs;
    for (;;) {
      const horizon = await readHorizon(db);
      if (horizon > since) return horizon;
      if (performance.now() > deadline)
        throw new Problem('unavailable', 'a transaction of the database takes too long; try again');
      await sleep(50);
    }
  }

  /** Has changes recorded for another minute. Whoever listened while they were not recorded has to connect again. */
  async #prolong(db: Db): Promise<bigint> {
    const began = performance.now();
    const since = await keepListening(db);
    if (performance.now() - this.#prolongedAtMs > recordedMs) this.#endAll();
    this.#prolongedAtMs = began;
    return since;
  }

  #start(
    response: ServerResponse,
    listening: { caller: Caller; subscription: Subscription; begin: EventPosition },
  ): void {
    const audience = this.#audiences.join(listening.caller, response);
    const listener = new Listener(response, { ...listening, audience });
    this.#listeners.add(listener);
    response.once('close', () => this.#listeners.delete(listener));
    response.once('stopping', () => listener.end());
    if (this.#position === undefined) {
      this.#position = listening.begin;
      this.#mark = { xid: listening.begin.xid, atMs: performance.now() };
    }
    listener.keepAlive();
  }

  async #deliver(
    audience: Audience,
    listeners: readonly Listener[],
    { rows, accessEpoch }: EventPage,
  ): Promise<void> {
    const { backgroundDb: db, rows: guard, log } = this.#options;
    const wanted = rows.filter(isPresent).filter((row) => listeners.some((listener) => listener.wants(row)));
    if (wanted.length === 0) return;
    try {
      await audience.follow({ db, rows: guard }, accessEpoch);
      const events = await seenEvents(audience, wanted, 'secrets');
      for (const listener of listeners) listener.send(events);
    } catch (error) {
      logFailure(log, { error }, 'the policies of those who listen to events cannot be applied');
      for (const listener of listeners) listener.end();
    }
  }

  #endAll(): void {
    for (const listener of this.#listeners) listener.end();
    this.#position = undefined;
  }
}

/** Whether the mount of an event is still there. */
const isPresent = (row: EventRow): row is PresentEvent => row.mount !== null;
