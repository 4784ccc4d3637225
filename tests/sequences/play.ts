import { setTimeout as sleep } from 'node:timers/promises';
import type { SandboxType } from '../harness/destination-types.ts';
import { type Api, expectStatus } from '../harness/http.ts';
import { type Contents, type Expected, whyWrong } from './expected-contents.ts';
import type { InstalledDatabase } from './installed-database.ts';
import type { Operation, Sequence } from './operations.ts';
import { Outside } from './outside.ts';
import { PlayedDestination } from './played-destination.ts';
import { PlayedSecrets } from './played-secrets.ts';
import { StoredDestinations } from './stored-destinations.ts';
import { until } from './until.ts';
import type { Weather } from './weather.ts';

/** Where sequences are played. */
export interface Stage {
  sandboxUrl: string;
  database: InstalledDatabase;
  /** Repeats a request until it is answered, whatever crashes. */
  api: Api;
  types: readonly SandboxType[];
  /** What the sandbox says of each store, by type. */
  credentials: Readonly<Record<string, Record<string, string>>>;
  weather: Weather;
}

/** The time in which the stores must become right while nothing is in progress: an event may still be on its way. */
const restMs = 60_000;
const pollMs = 200;

/** A sequence on its own mount, with its own destinations. */
export class Play {
  readonly #stage: Stage;
  readonly #mount: string;
  readonly #destinations: readonly PlayedDestination[];
  /** Whether several destinations may give one name to external secrets in one place. */
  readonly #hasRivals: boolean;
  readonly #outside: Outside;
  readonly #stored: StoredDestinations;
  readonly #secrets: PlayedSecrets;
  /** Number of losses of commits before this sequence. */
  readonly #earlierLosses: number;
  /** Number of losses after which the lost operations were repeated, earlier ones included. */
  #repeatedLosses: number;
  #isEnding = false;
  /** The contents that the stores should have; undefined until the operations are over, and after each loss. */
  #expected: readonly Expected[] | undefined;

  constructor(stage: Stage, id: string, { types, isOnePlace }: Sequence) {
    this.#stage = stage;
    this.#mount = `m${id}`;
    this.#outside = new Outside(stage.sandboxUrl, `x${this.#mount}x`);
    this.#secrets = new PlayedSecrets(stage.api, this.#mount);
    this.#stored = new StoredDestinations(stage.database, this.#mount);
    this.#hasRivals = isOnePlace && new Set(types).size < types.length;
    this.#earlierLosses = stage.weather.losses;
    this.#repeatedLosses = this.#earlierLosses;
    this.#destinations = types.map((at, number) => {
      const { type } = stage.types[at]!;
      const path = `sys/sync/destinations/${type}/${this.#mount}d${number}`;
      const index = isOnePlace ? types.indexOf(at) : number;
      return new PlayedDestination({ index, type, mount: this.#mount, path }, stage.api, this.#outside);
    });
  }

  /** Plays the operations, ends the faults, and resolves when every store holds what it should; then removes everything. */
  async run(operations: readonly Operation[]): Promise<void> {
    await this.#stage.weather.whileCalm(() => this.#create());
    for (const operation of operations) {
      await this.#perform(operation);
      await this.#repeatLost();
    }
    await this.#outside.clearFaults();
    const mayWait = this.#hasRivals || operations.some(({ act }) => act === 'refuse');
    await this.#untilRight({ mayWait });
    this.#isEnding = true;
    this.#expected = [];
    await this.#purge();
    await this.#untilRight({ mayWait });
    // The response has a warning while the purge of a destination that pushed nothing is in progress.
    const { status } = await this.#stage.api('DELETE', `sys/mounts/${this.#mount}`);
    if (status !== 200) expectStatus({ status, body: undefined }, 204);
  }

  async #create(): Promise<void> {
    const { api, types, credentials } = this.#stage;
    const mount = { type: 'kv', options: { version: '2' } };
    const mounted = await api('POST', `sys/mounts/${this.#mount}`, mount);
    if (mounted.status !== 409) expectStatus(mounted, 204); // 409: it was there before the request was repeated
    // Destinations of one place respect each other even where they may overwrite what is there.
    const policy = this.#hasRivals ? { conflict_policy: 'overwrite' } : {};
    for (const destination of this.#destinations) {
      const { type } = destination;
      const fields = types.find((one) => one.type === type)!.fields(credentials[type]!);
      await destination.create({ ...fields, ...policy });
    }
  }

  async #perform(operation: Operation): Promise<unknown> {
    if (operation.act === 'wait') return sleep(operation.ms);
    if ('destination' in operation) return this.#destinations[operation.destination]?.perform(operation);
    await this.#secrets.change(operation);
    if (operation.act === 'drop') for (const one of this.#destinations) one.forget(operation.secret);
  }

  async #purge(): Promise<void> {
    for (const destination of this.#destinations) await destination.purge();
  }

  /** Does again what the losses of commits since the last call may have undone. */
  async #repeatLost(): Promise<void> {
    while (this.#repeatedLosses < this.#stage.weather.losses) {
      this.#repeatedLosses = this.#stage.weather.losses;
      if (this.#isEnding) await this.#purge();
      else for (const destination of this.#destinations) await destination.setAgain();
      this.#expected = this.#isEnding ? [] : undefined;
    }
  }

  /** With `mayWait`, lets time pass for what waits long after a refusal or for a rival. */
  #untilRight({ mayWait }: { mayWait: boolean }): Promise<void> {
    const { weather } = this.#stage;
    return until(async () => {
      await this.#repeatLost();
      const why = await this.#whyWrong();
      if (why !== undefined && mayWait) await this.#stored.letTimePass();
      if (weather.mayHaveLateCalls) return why ?? 'calls of before a failover may be in progress';
      if (why !== undefined && (await this.#stored.isAtRest()))
        await weather.whileCalm(() => this.#whileAtRest());
      return why ?? true;
    });
  }

  /**
   * Returns once the stores are right or something is in progress again. Throws if nothing moves any more. The system must be
   * calm: what is done after a loss of commits repairs everything.
   */
  async #whileAtRest(): Promise<void> {
    const deadline = Date.now() + restMs;
    while (await this.#stored.isAtRest()) {
      const why = await this.#whyWrong();
      if (why === undefined) return;
      if (Date.now() > deadline) throw new Error(`${why}, and nothing is in progress`);
      await sleep(pollMs);
    }
  }

  async #whyWrong(): Promise<string | undefined> {
    this.#expected ??= await this.#expectedNow();
    return whyWrong(await this.#held(this.#expected), this.#expected);
  }

  async #expectedNow(): Promise<Expected[]> {
    const all = [];
    for (const destination of this.#destinations) all.push(await destination.expected(this.#secrets));
    return all.flat();
  }

  /**
   * The external secrets, without those of which the database has lost every trace: an operator has to find and delete
   * them.
   */
  async #held(expected: readonly Expected[]): Promise<Contents> {
    const held = await this.#outside.held(this.#destinations.map(({ type }) => type));
    if (this.#repeatedLosses === this.#earlierLosses) return held;
    const known = await this.#stored.knownNames();
    const isTraced = (name: string) => known === undefined || known.has(name);
    const isWanted = (name: string) => expected.some(({ now }) => name in now);
    return Object.fromEntries(Object.entries(held).filter(([name]) => isWanted(name) || isTraced(name)));
  }
}
