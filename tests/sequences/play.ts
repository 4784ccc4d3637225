import { setTimeout as sleep } from 'node:timers/promises';
import { findDescription } from '../../libs/destinations/src/index.ts';
import type { SandboxType } from '../harness/destination-types.ts';
import { type Answer, type Api, expectStatus, send } from '../harness/http.ts';
import {
  type Contents,
  contentsOf,
  type Expected,
  type NamePlace,
  nameStart,
  parsed,
  type Shape,
  shapeFields,
  whyWrong,
} from './expected-contents.ts';
import type { Operation, Sequence } from './operations.ts';
import { Spelling } from './spelling.ts';

/** Where sequences are played. */
export interface Stage {
  /** Repeats a request until it is answered, whatever crashes. */
  api: Api;
  sandboxUrl: string;
  types: readonly SandboxType[];
  /** What the sandbox says of each store, by type. */
  credentials: Readonly<Record<string, Record<string, string>>>;
}

interface PlayedDestination extends NamePlace {
  path: string;
  shape: Shape;
  /** By the number of the secret: the shapes that the association has had, the current one last. */
  associations: Map<number, Shape[]>;
  /** The store has denied permission. Such refusals end by themselves only after minutes. */
  wasRefused: boolean;
}

/**
 * Several times the minute after which the page of a replan is repeated if its process was killed, which may happen to
 * it again.
 */
const quietTimeoutMs = 300_000;
const pollMs = 200;

/** A sequence on its own mount, with its own destinations. */
export class Play {
  readonly #stage: Stage;
  readonly #mount: string;
  readonly #destinations: PlayedDestination[];
  readonly #spelling = new Spelling();

  constructor(stage: Stage, id: string, { types }: Sequence) {
    this.#stage = stage;
    this.#mount = `m${id}`;
    this.#destinations = types.map((at, index) => {
      const { type } = stage.types[at]!;
      const path = `sys/sync/destinations/${type}/${this.#mount}d${index}`;
      const shape = { template: 0, granularity: 'secret-path' as const };
      return { index, type, mount: this.#mount, path, shape, associations: new Map(), wasRefused: false };
    });
  }

  /** Plays the operations, ends the faults, and resolves when every store holds what it should; then removes everything. */
  async run(operations: readonly Operation[]): Promise<void> {
    await this.#create();
    for (const operation of operations) await this.#perform(operation);
    await this.#clearFaults();
    const expected = await this.#expected();
    await this.#until(() => this.#whyWrong(expected), undefined);
    for (const { path } of this.#destinations)
      expectStatus(await this.#stage.api('DELETE', `${path}?purge=true`), 204);
    await this.#until(() => this.#whyWrong([]), undefined);
    // The response has a warning while the purge of a destination that pushed nothing is in progress.
    const { status } = await this.#stage.api('DELETE', `sys/mounts/${this.#mount}`);
    if (status !== 200) expectStatus({ status, body: undefined }, 204);
  }

  async #create(): Promise<void> {
    const { api, types, credentials } = this.#stage;
    const mount = { type: 'kv', options: { version: '2' } };
    const mounted = await api('POST', `sys/mounts/${this.#mount}`, mount);
    if (mounted.status !== 409) expectStatus(mounted, 204); // 409: a crash came after it and before the answer
    for (const destination of this.#destinations) {
      const { type, path } = destination;
      const fields = types.find((one) => one.type === type)!.fields(credentials[type]!);
      expectStatus(
        await api('POST', path, { ...fields, ...shapeFields(destination, destination.shape) }),
        200,
      );
    }
  }

  #perform(operation: Operation): Promise<unknown> {
    switch (operation.act) {
      case 'wait':
        return sleep(operation.ms);
      case 'set':
      case 'remove':
        return this.#associate(operation);
      case 'reshape':
      case 'replan':
      case 'fault':
      case 'refuse':
        return this.#operate(operation);
      default:
        return this.#change(operation);
    }
  }

  async #change(operation: Extract<Operation, { secret: number; destination?: never }>): Promise<void> {
    const { api } = this.#stage;
    const at = (part: string) => `${this.#mount}/${part}/s${operation.secret}`;
    switch (operation.act) {
      case 'write':
        return void expectStatus(
          await api('POST', at('data'), { data: this.#spelling.spell(operation) }),
          200,
        );
      case 'patch':
        return void (await api('PATCH', at('data'), { data: this.#spelling.spell(operation) }));
      case 'respell': {
        const data = await this.#data(operation.secret);
        if (data === undefined) return;
        this.#spelling.change(operation);
        return void expectStatus(
          await api('POST', at('data'), { data: this.#spelling.spell({ ...operation, data }) }),
          200,
        );
      }
      case 'delete':
        return void (await api('DELETE', at('data')));
      case 'drop':
        expectStatus(await api('DELETE', at('metadata')), 204);
        for (const { associations } of this.#destinations) associations.delete(operation.secret);
        return;
      default: {
        const versions = await this.#versions(operation.secret);
        if (versions.length > 0)
          await api('POST', at(operation.act), { versions: [versions.at(-1)!.version] });
      }
    }
  }

  async #associate({
    act,
    secret,
    destination,
  }: Extract<Operation, { act: 'set' | 'remove' }>): Promise<void> {
    const at = this.#destinations[destination];
    if (at === undefined) return;
    const body = { mount: this.#mount, secret_name: `s${secret}` };
    const answer = await this.#stage.api('POST', `${at.path}/associations/${act}?wait=0`, body);
    if (act === 'remove') {
      expectStatus(answer, 200);
      at.associations.delete(secret);
    } else if (answer.status === 200) reshaped(at, secret);
    else if (answer.status !== 409) expectStatus(answer, 400); // 409: a name is taken; 400: no version is readable
  }

  async #operate(
    operation: Extract<Operation, { act: 'reshape' | 'replan' | 'fault' | 'refuse' }>,
  ): Promise<void> {
    const at = this.#destinations[operation.destination];
    if (at === undefined) return;
    switch (operation.act) {
      case 'reshape':
        at.shape = { template: operation.template, granularity: operation.granularity };
        return void expectStatus(await this.#stage.api('PATCH', at.path, shapeFields(at, at.shape)), 200);
      case 'replan':
        expectStatus(await this.#stage.api('POST', `${at.path}/replan`, {}), 200);
        await this.#until(async () => await this.#replanStarted(at), null);
        for (const secret of at.associations.keys()) reshaped(at, secret);
        return;
      case 'refuse': {
        at.wasRefused = true;
        return this.#fault(at, {
          effect: 'error',
          code: 'AccessDenied',
          status: 403,
          times: operation.times,
        });
      }
      case 'fault': {
        const { effect, times } = operation;
        // Some providers mean a minute or more if they name no time.
        const wait = effect === 'throttle' ? { retryAfterSeconds: 1 } : {};
        return this.#fault(at, { effect, times, ...wait });
      }
    }
  }

  /** Adds a fault for the calls about the destination's external secrets. */
  async #fault(at: PlayedDestination, fault: object): Promise<void> {
    const name = `*${nameStart(at, 0).slice(2)}*`;
    await this.#sandbox('POST', 'faults', { store: at.type, name, ...fault });
  }

  async #replanStarted({ path }: PlayedDestination): Promise<unknown> {
    return (await this.#stage.api('GET', path)).body.data.replan_initiated_at ?? null;
  }

  async #sandbox(method: string, path: string, body?: unknown): Promise<Answer['body']> {
    for (;;) {
      const answer = await send(`${this.#stage.sandboxUrl}/_sandbox/${path}`, method, { body }).catch(
        () => undefined,
      );
      if (answer !== undefined && answer.status < 300) return answer.body;
      await sleep(pollMs);
    }
  }

  async #clearFaults(): Promise<void> {
    const { faults } = await this.#sandbox('GET', 'faults');
    for (const { id, name } of faults as { id: string; name?: string }[])
      if (name?.includes(`x${this.#mount}x`)) await this.#removeFault(id);
  }

  /** A fault whose calls are used up is gone already. */
  async #removeFault(id: string): Promise<void> {
    await send(`${this.#stage.sandboxUrl}/_sandbox/faults/${id}`, 'DELETE').catch(() => undefined);
  }

  async #versions(secret: number): Promise<{ version: number; isReadable: boolean }[]> {
    const { status, body } = await this.#stage.api('GET', `${this.#mount}/metadata/s${secret}`);
    if (status !== 200) return [];
    const versions = Object.entries<{ deletion_time: string; destroyed: boolean }>(body.data.versions);
    return versions.map(([version, { deletion_time, destroyed }]) => ({
      version: Number(version),
      isReadable: deletion_time === '' && !destroyed,
    }));
  }

  /** The data of the newest readable version; undefined if there is none. */
  async #data(secret: number): Promise<Record<string, string> | undefined> {
    const version = (await this.#versions(secret)).findLast(({ isReadable }) => isReadable)?.version;
    if (version === undefined) return undefined;
    const answer = await this.#stage.api('GET', `${this.#mount}/data/s${secret}?version=${version}`);
    return expectStatus(answer, 200).body.data.data;
  }

  async #expected(): Promise<Expected[]> {
    const expected: Expected[] = [];
    for (const place of this.#destinations) {
      for (const [secret, shapes] of place.associations) {
        const data = await this.#data(secret);
        if (data === undefined) continue;
        const by = (shape: Shape) => contentsOf(place, shape, { name: `s${secret}`, data });
        expected.push({ now: by(shapes.at(-1)!), before: Object.assign({}, ...shapes.map(by)) });
      }
    }
    return expected;
  }

  async #whyWrong(expected: readonly Expected[]): Promise<string | undefined> {
    const why = whyWrong(await this.#held(), expected);
    if (why !== undefined) await this.#retryRefused();
    return why;
  }

  /** Retries where the store has denied permission, which a client does when it has granted it. */
  async #retryRefused(): Promise<void> {
    for (const { path, wasRefused } of this.#destinations)
      if (wasRefused) await this.#stage.api('POST', `${path}/retry`, {});
  }

  async #held(): Promise<Contents> {
    const held: Record<string, string> = {};
    for (const type of new Set(this.#destinations.map((one) => one.type))) {
      const { collisionKey } = findDescription(type).nameRule;
      const { stores } = await this.#sandbox('GET', `stores?store=${type}&name=*x${this.#mount}x*`);
      for (const { name, value, deleted_at } of stores[type].secrets)
        if (deleted_at === null) held[collisionKey(name)] = parsed(value);
    }
    return held;
  }

  async #until<Value>(look: () => Promise<Value>, wanted: Value): Promise<void> {
    const deadline = Date.now() + quietTimeoutMs;
    for (;;) {
      const value = await look();
      if (value === wanted) return;
      if (Date.now() > deadline) throw new Error(`${value}`);
      await sleep(pollMs);
    }
  }
}

/** Notes that an association has the shape of its destination now. */
const reshaped = ({ associations, shape }: PlayedDestination, secret: number): unknown =>
  associations.set(secret, [...(associations.get(secret) ?? []), shape]);
