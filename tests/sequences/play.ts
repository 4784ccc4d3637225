import { setTimeout as sleep } from 'node:timers/promises';
import type { SandboxType } from '../harness/destination-types.ts';
import { type Api, expectStatus } from '../harness/http.ts';
import { type Expected, whyWrong } from './expected-contents.ts';
import type { InstalledDatabase } from './installed-database.ts';
import type { Operation, Sequence } from './operations.ts';
import { Outside } from './outside.ts';
import { PlayedDestination } from './played-destination.ts';
import { PlayedSecrets } from './played-secrets.ts';
import { StoredDestinations } from './stored-destinations.ts';
import { until } from './until.ts';

/** Where sequences are played. */
export interface Stage {
  sandboxUrl: string;
  database: InstalledDatabase;
  /** Repeats a request until it is answered, whatever crashes. */
  api: Api;
  types: readonly SandboxType[];
  /** What the sandbox says of each store, by type. */
  credentials: Readonly<Record<string, Record<string, string>>>;
}

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

  constructor(stage: Stage, id: string, { types, isOnePlace }: Sequence) {
    this.#stage = stage;
    this.#mount = `m${id}`;
    this.#outside = new Outside(stage.sandboxUrl, `x${this.#mount}x`);
    this.#stored = new StoredDestinations(stage.database, this.#mount);
    this.#secrets = new PlayedSecrets(stage.api, this.#mount);
    this.#hasRivals = isOnePlace && new Set(types).size < types.length;
    this.#destinations = types.map((at, number) => {
      const { type } = stage.types[at]!;
      const path = `sys/sync/destinations/${type}/${this.#mount}d${number}`;
      const index = isOnePlace ? types.indexOf(at) : number;
      return new PlayedDestination({ index, type, mount: this.#mount, path }, stage.api, this.#outside);
    });
  }

  /** Plays the operations, ends the faults, and resolves when every store holds what it should; then removes everything. */
  async run(operations: readonly Operation[]): Promise<void> {
    await this.#create();
    for (const operation of operations) await this.#perform(operation);
    await this.#outside.clearFaults();
    const mayWait = this.#hasRivals || operations.some(({ act }) => act === 'refuse');
    await this.#untilHeld(await this.#expected(), { mayWait });
    for (const destination of this.#destinations) await destination.purge();
    await this.#untilHeld([], { mayWait });
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

  async #expected(): Promise<Expected[]> {
    const all = [];
    for (const destination of this.#destinations) all.push(await destination.expected(this.#secrets));
    return all.flat();
  }

  /** With `mayWait`, lets time pass for what waits long after a refusal or for a rival. */
  #untilHeld(expected: readonly Expected[], { mayWait }: { mayWait: boolean }): Promise<void> {
    return until(async () => {
      const why = whyWrong(await this.#outside.held(this.#destinations.map(({ type }) => type)), expected);
      if (why !== undefined && mayWait) await this.#stored.letTimePass();
      return why ?? true;
    });
  }
}
