import type { ServerResponse } from 'node:http';
import { type Audience, Audiences, forEachAudience, type RowGuard } from '@secrets/access';
import type { Caller } from '@secrets/caller';
import type { Db } from '@secrets/db';
import { Problem } from '@secrets/domain';
import { type Logger, logFailure } from '@secrets/telemetry';
import {
  type EventPage,
  type EventPosition,
  type EventRow,
  readEventHorizon,
  readEvents,
} from '../queries/events.ts';
import { framesOf } from './event-frames.ts';
import { isAfter } from './event-position.ts';
import { EventStream } from './event-stream.ts';

/** Number of events that are read at once, and the most that waits in memory for one client. */
const pageSize = 1_000;
const ownPageSize = 200;

/** Maximum number of clients that follow events in this process. */
const maxStreams = 1_000;

/** Milliseconds for which a client may leave sent events unread before it is disconnected. */
const defaultMaxUnreadMs = 15_000;

interface EventFeedOptions {
  /** For reads for which a single client waits. */
  db: Db;
  /** For reads that all clients share. */
  backgroundDb: Db;
  rows: RowGuard;
  log: Logger;
  maxUnreadMs?: number;
}

/**
 * Sends events to the clients that follow them from this process. The clients share one statement, which runs only while there
 * are any.
 */
export class EventFeed {
  readonly #db: Db;
  readonly #backgroundDb: Db;
  readonly #rows: RowGuard;
  readonly #log: Logger;
  readonly #maxUnreadMs: number;
  readonly #audiences = new Audiences();
  /** Streams that have received everything up to `#position`. */
  readonly #live = new Set<EventStream>();
  #position: EventPosition | undefined;
  #opened = 0;

  constructor({ db, backgroundDb, rows, log, maxUnreadMs = defaultMaxUnreadMs }: EventFeedOptions) {
    this.#db = db;
    this.#backgroundDb = backgroundDb;
    this.#rows = rows;
    this.#log = log;
    this.#maxUnreadMs = maxUnreadMs;
  }

  /**
   * Prepares a stream to a caller that begins after a position, or now. The stream starts when the function that it
   * returns is called with the response.
   * @throws a problem (`rate_limited`) if there are too many streams
   */
  async open(caller: Caller, after: EventPosition | undefined): Promise<(response: ServerResponse) => void> {
    if (this.#opened >= maxStreams)
      throw new Problem('rate_limited', 'too many clients follow the events', { retryAfterSeconds: 10 });
    const begin = after ?? (await readEventHorizon(this.#db));
    return (response) => this.#start(caller, begin, response);
  }

  /** Sends the events since the last call to the streams that have received, and read, all earlier ones. */
  async advance(): Promise<void> {
    if (this.#live.size === 0) this.#position = undefined;
    let isMore = true;
    while (isMore && this.#position !== undefined) {
      const page = await readEvents(this.#backgroundDb, {
        after: this.#position,
        limit: pageSize,
        // Also of those that join while this is read.
        namespaceIds: [...new Set(this.#audiences.all.map(namespaceIdOf))],
      });
      // Moved before the next wait: a stream that joins from now on does not get this page.
      const end = endOf(page, pageSize);
      this.#position = end;
      for (const stream of this.#live) if (stream.isBehind) this.#followAlone(stream);
      await forEachAudience(this.#live, (audience, streams) => this.#deliver(audience, streams, page, end));
      isMore = page.rows.length === pageSize;
    }
  }

  /** To be called every few seconds: it keeps unused connections open. */
  keepAlive(): void {
    for (const stream of this.#live) stream.keepAlive();
  }

  #start(caller: Caller, begin: EventPosition, response: ServerResponse): void {
    if (response.destroyed) return;
    this.#opened += 1;
    const stream = new EventStream(response, this.#audiences.join(caller, response), begin);
    response.once('close', () => {
      this.#live.delete(stream);
      this.#opened -= 1;
    });
    response.once('stopping', () => stream.end());
    this.#followAlone(stream, true);
  }

  /** Sends a stream the earlier events at its own pace, until it has caught up. */
  #followAlone(stream: EventStream, isNew = false): void {
    this.#live.delete(stream);
    void this.#catchUp(stream, isNew).catch((error: unknown) => {
      logFailure(this.#log, { error }, 'a stream of events was ended');
      stream.end();
    });
  }

  async #catchUp(stream: EventStream, isNew: boolean): Promise<void> {
    let isOpen = !isNew;
    let isLast = false;
    while (!stream.hasEnded) {
      // Without a wait in between: nothing can be distributed that this stream then misses.
      if (isLast && (this.#position === undefined || !isAfter(this.#position, stream.position))) break;
      await stream.drained(this.#maxUnreadMs);
      const page = await readEvents(this.#db, {
        after: stream.position,
        limit: ownPageSize,
        namespaceIds: [namespaceIdOf(stream.audience)],
      });
      if (!isOpen && !page.isLost) stream.open();
      isOpen = true;
      await this.#deliver(stream.audience, [stream], page, endOf(page, ownPageSize));
      isLast = page.rows.length < ownPageSize;
    }
    if (stream.hasEnded) return;
    this.#position ??= stream.position;
    this.#live.add(stream);
  }

  async #deliver(
    audience: Audience,
    streams: readonly EventStream[],
    { rows, isLost, accessEpoch }: EventPage,
    end: EventPosition,
  ): Promise<void> {
    try {
      await audience.follow({ db: this.#backgroundDb, rows: this.#rows }, accessEpoch);
      const frames = await framesOf(audience, rows);
      for (const stream of streams) {
        if (isLost) stream.reset(end);
        else {
          const missing = frames.filter(({ row }) => isAfter(positionOf(row), stream.position));
          stream.send(missing.map(({ text }) => text).join(''), end);
        }
      }
    } catch (error) {
      logFailure(this.#log, { error }, 'the policies of those who follow events cannot be applied');
      for (const stream of streams) stream.end();
    }
  }
}

const namespaceIdOf = ({ caller }: Audience): string => caller.namespace.id;

const positionOf = ({ xid, id, second }: EventRow): EventPosition => ({
  xid: BigInt(xid),
  id: BigInt(id),
  second,
});

/** Returns the position up to which a page is complete. */
function endOf({ rows, horizon, second, isLost }: EventPage, limit: number): EventPosition {
  const last = rows.at(-1);
  return !isLost && rows.length === limit && last !== undefined
    ? positionOf(last)
    : { xid: horizon, id: 0n, second };
}
