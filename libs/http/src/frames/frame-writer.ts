import type { Writable } from 'node:stream';

/** A frame waits for at most this many turns of the event loop. */
const maxTurns = 4;
/**
 * Maximum number of frames per write. With more, the process at the other end would wait for work, and the two would take turns
 * instead of working at the same time.
 */
const maxFrames = 8;

/**
 * Writes frames to a connection, those of a few turns of the event loop together: a system call costs more than everything else
 * about a small frame. A frame on its own is written in the next turn.
 */
export class FrameWriter {
  readonly #socket: Writable;
  #waiting: Buffer[] = [];

  constructor(socket: Writable) {
    this.#socket = socket;
  }

  write(frame: Buffer): void {
    const count = this.#waiting.push(frame);
    if (count === maxFrames) this.#flush();
    else if (count === 1) this.#flushSoon(1);
  }

  /** Writes what is left, and ends the connection from this side. */
  end(): void {
    this.#flush();
    this.#socket.end();
  }

  #flushSoon(turn: number): void {
    const before = this.#waiting.length;
    setImmediate(() => {
      if (this.#waiting.length > before && turn < maxTurns) this.#flushSoon(turn + 1);
      else this.#flush();
    });
  }

  #flush(): void {
    const frames = this.#waiting;
    this.#waiting = [];
    if (frames.length === 0 || !this.#socket.writable) return;
    this.#socket.write(frames.length === 1 ? frames[0]! : Buffer.concat(frames));
  }
}
