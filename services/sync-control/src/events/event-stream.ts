import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Audience } from '@secrets/access';
import type { EventPosition } from '../queries/events.ts';
import { frame } from './event-frames.ts';
import { isAfter, positionText } from './event-position.ts';

/** The response to one client that follows the events. */
export class EventStream {
  readonly audience: Audience;
  readonly #response: ServerResponse;
  #position: EventPosition;

  constructor(response: ServerResponse, audience: Audience, position: EventPosition) {
    this.#response = response;
    this.audience = audience;
    this.#position = position;
  }

  /** Whether data waits in memory until the client reads. */
  get isBehind(): boolean {
    return this.#response.writableNeedDrain;
  }

  /** Position up to which everything was sent to this client. */
  get position(): EventPosition {
    return this.#position;
  }

  get hasEnded(): boolean {
    return this.#response.writableEnded || this.#response.destroyed;
  }

  /** Sends the initial position and the delay before a reconnection. */
  open(): void {
    this.#send(`retry: 2000\n\n${this.#frame('open')}`);
  }

  /** Reports missing events: the client must reload what it shows. */
  reset(to: EventPosition): void {
    this.#position = to;
    this.#send(this.#frame('reset'));
  }

  /** Sends the events up to a position. */
  send(frames: string, upTo: EventPosition): void {
    if (isAfter(upTo, this.#position)) this.#position = upTo;
    if (frames !== '') this.#send(frames);
  }

  /** Keeps the connection open, and moves the position from which the client resumes. */
  keepAlive(): void {
    this.#send(`: keep-alive\nid: ${positionText(this.#position)}\n\n`);
  }

  /** Resolves when the client has read all data that waits in memory. A client that takes longer loses the connection. */
  async drained(maxMs: number): Promise<void> {
    if (!this.isBehind || this.hasEnded) return;
    const waiting = new AbortController();
    const { signal } = waiting;
    const timer = setTimeout(() => this.#response.destroy(), maxMs);
    await Promise.race([
      once(this.#response, 'drain', { signal }),
      once(this.#response, 'close', { signal }),
    ]);
    clearTimeout(timer);
    waiting.abort();
  }

  end(): void {
    if (!this.hasEnded) this.#response.end();
  }

  #frame(kind: string): string {
    const id = positionText(this.#position);
    return frame({ kind, id, time: new Date().toISOString() });
  }

  #send(text: string): void {
    if (!this.hasEnded) this.#response.write(text);
  }
}
