import { setTimeout as sleep } from 'node:timers/promises';
import { associator, drawOf, type LoadClient, operator, type Shared, session, writeEach, writer } from './clients.ts';
import { Recorder } from './recorder.ts';
import type { World } from './world.ts';

/** A mixed load by several clients at once. */
export class MixedLoad {
  readonly recorder = new Recorder();
  readonly #clients: LoadClient[];
  readonly #shared: Shared;
  readonly #seed: number;
  #isOver = false;
  #running: Promise<unknown> = Promise.resolve();

  constructor(world: World, seed: number) {
    const shared = { world, recorder: this.recorder };
    this.#shared = shared;
    this.#seed = seed;
    this.#clients = [
      writer(shared, 'writer-1'),
      writer(shared, 'writer-2'),
      writer(shared, 'writer-3'),
      associator(shared, 'associator-1', world.lasting.slice(0, 3)),
      associator(shared, 'associator-2', world.lasting.slice(3)),
      operator(shared, 'operator'),
      session(shared, 'session-1'),
      session(shared, 'session-2'),
    ];
  }

  /** Writes each secret once. */
  async prepare(): Promise<void> {
    await writeEach(this.#shared);
  }

  start(): void {
    this.#isOver = false;
    const seed = this.#seed + this.recorder.history.length;
    this.#running = Promise.all(this.#clients.map((client, at) => this.#repeat(client, seed + at)));
  }

  /** Resolves when no request is in flight. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  async #repeat({ pauseMs, turn }: LoadClient, seed: number): Promise<void> {
    const draw = drawOf(seed);
    while (!this.#isOver) {
      await turn(draw);
      await sleep(pauseMs / 2 + draw(pauseMs));
    }
  }
}
