import type { Socket } from 'node:net';

/** Writes frames to a connection. Those of one turn of the event loop share a system call, which costs more than the rest. */
export class FrameWriter {
  readonly #socket: Socket;
  #waiting: Buffer[] = [];

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  write(frame: Buffer): void {
    if (this.#waiting.push(frame) === 1) setImmediate(() => this.#flush());
  }

  /** Writes what is left, and ends the connection from this side. */
  end(): void {
    this.#flush();
    this.#socket.end();
  }

  #flush(): void {
    const frames = this.#waiting;
    this.#waiting = [];
    if (frames.length === 0 || !this.#socket.writable) return;
    this.#socket.write(frames.length === 1 ? frames[0]! : Buffer.concat(frames));
  }
}
