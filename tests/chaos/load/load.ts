import { setTimeout as sleep } from 'node:timers/promises';
import {
  associator,
  beginWithEach,
  drawOf,
  type LoadClient,
  type Shared,
  session,
  writer,
  writers,
} from './clients.ts';
import { Hands } from './hands.ts';
import { Operator } from './operator.ts';
import { Recorder } from './recorder.ts';
import { creator } from './rules/creator.ts';
import { Ruler } from './rules/ruler.ts';
import type { World } from './world.ts';

/** The clients that take part, by the beginning of their names. */
const clientsOf = {
  mixed: [''],
  secrets: ['writer'],
  'secrets and tokens': ['writer', 'session'],
  'without operator': ['writer', 'associator', 'session'],
};

/** All clients, or only those that work on secrets, on secrets and tokens, or on these and associations. */
export type LoadKind = keyof typeof clientsOf;

/** A mixed load by several clients at once. */
export class MixedLoad {
  readonly recorder = new Recorder();
  readonly #clients: LoadClient[];
  readonly hands: Hands;
  readonly shared: Shared;
  readonly #seed: number;
  #isOver = false;
  #running: Promise<unknown> = Promise.resolve();

  constructor(world: World, { seed, databaseUrl }: { seed: number; databaseUrl: string }) {
    const shared = { world, recorder: this.recorder };
    this.shared = shared;
    this.hands = new Hands(shared, databaseUrl);
    this.#seed = seed;
    this.#clients = [
      ...Array.from({ length: writers }, (_, nth) => writer(shared, nth)),
      associator(shared, 'associator-1', world.changing.slice(0, 3)),
      associator(shared, 'associator-2', world.changing.slice(3)),
      new Operator(shared),
      this.hands,
      session(shared, 'session-1'),
      session(shared, 'session-2'),
      ...(world.ruled.length > 0 ? [creator(shared, 0), creator(shared, 1), new Ruler(shared)] : []),
    ];
  }

  /** Creates what the load needs in the beginning. */
  async prepare(): Promise<void> {
    await beginWithEach(this.shared);
  }

  /** Starts the clients: by default all of them. */
  start(kind: LoadKind = 'mixed'): void {
    this.#isOver = false;
    const seed = this.#seed + this.recorder.history.length;
    const clients = this.#clients.filter(({ name }) =>
      clientsOf[kind].some((beginning) => name.startsWith(beginning)),
    );
    this.#running = Promise.all(clients.map((client, at) => this.#repeat(client, seed + at)));
  }

  /** Resolves when no request is in flight. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  async #repeat(client: LoadClient, seed: number): Promise<void> {
    const draw = drawOf(seed);
    while (!this.#isOver) {
      await client.turn(draw);
      await sleep(client.pauseMs / 2 + draw(client.pauseMs));
    }
  }
}
