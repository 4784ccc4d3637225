import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type SandboxType, templateFor } from '../harness/destination-types.ts';
import { type Answer, type Api, expectStatus, send } from '../harness/http.ts';
import type { Operation, Sequence } from './operations.ts';

/** Where sequences are played. */
export interface Stage {
  /** Repeats a request until it is answered, whatever crashes. */
  api: Api;
  sandboxUrl: string;
  types: readonly SandboxType[];
  /** What the sandbox says of each store, by type. */
  credentials: Readonly<Record<string, Record<string, string>>>;
}

/** Names and values of external secrets, of all destinations of a sequence. */
export type Contents = Record<string, string>;

/** The settings with which an association was set last; they determine the names of its external secrets. */
interface Shape {
  template: number;
  granularity: 'secret-path' | 'secret-key';
}

interface PlayedDestination {
  index: number;
  type: string;
  path: string;
  shape: Shape;
  /** By the number of the secret. */
  associations: Map<number, Shape>;
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

  constructor(stage: Stage, id: string, { types }: Sequence) {
    this.#stage = stage;
    this.#mount = `m${id}`;
    this.#destinations = types.map((at, index) => {
      const { type } = stage.types[at]!;
      const path = `sys/sync/destinations/${type}/${this.#mount}d${index}`;
      const shape = { template: 0, granularity: 'secret-path' as const };
      return { index, type, path, shape, associations: new Map() };
    });
  }

  /** Plays the operations, ends the faults, and resolves when every store holds what it should; then removes everything. */
  async run(operations: readonly Operation[]): Promise<void> {
    await this.#create();
    for (const operation of operations) await this.#perform(operation);
    await this.#clearFaults();
    await this.#until(() => this.#held(), await this.#wanted());
    for (const { path } of this.#destinations)
      expectStatus(await this.#stage.api('DELETE', `${path}?purge=true`), 204);
    await this.#until(() => this.#held(), {});
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
      expectStatus(await api('POST', path, { ...fields, ...this.#shapeFields(destination) }), 200);
    }
  }

  #shapeFields({ index, type, shape: { template, granularity } }: PlayedDestination): object {
    const key = granularity === 'secret-key' ? 'x{{ .SecretKey }}' : '';
    const start = this.#nameStart({ index, template });
    return { granularity, secret_name_template: templateFor(type, `${start}{{ .SecretBaseName }}${key}`) };
  }

  /** Returns the prefix of the names of a destination's external secrets, for a template. */
  readonly #nameStart = ({ index, template }: { index: number; template: number }): string =>
    `t${template}d${index}x${this.#mount}x`;

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
        return void expectStatus(await api('POST', at('data'), { data: operation.data }), 200);
      case 'patch':
        return void (await api('PATCH', at('data'), { data: operation.data }));
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
    } else if (answer.status === 200) at.associations.set(secret, at.shape);
    else expectStatus(answer, 400); // the secret has no readable version
  }

  async #operate(operation: Extract<Operation, { act: 'reshape' | 'replan' | 'fault' }>): Promise<void> {
    const at = this.#destinations[operation.destination];
    if (at === undefined) return;
    switch (operation.act) {
      case 'reshape':
        at.shape = { template: operation.template, granularity: operation.granularity };
        return void expectStatus(await this.#stage.api('PATCH', at.path, this.#shapeFields(at)), 200);
      case 'replan':
        expectStatus(await this.#stage.api('POST', `${at.path}/replan`, {}), 200);
        await this.#until(async () => await this.#replanStarted(at), null);
        for (const secret of at.associations.keys()) at.associations.set(secret, at.shape);
        return;
      case 'fault': {
        const { effect, times } = operation;
        const name = `*${this.#nameStart({ ...at, template: 0 }).slice(2)}*`;
        // Some providers mean a minute or more if they name no time.
        const wait = effect === 'throttle' ? { retryAfterSeconds: 1 } : {};
        return void (await this.#sandbox('POST', 'faults', { store: at.type, effect, times, name, ...wait }));
      }
    }
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

  async #wanted(): Promise<Contents> {
    const wanted: Contents = {};
    for (const { index, associations } of this.#destinations) {
      for (const [secret, { template, granularity }] of associations) {
        const data = await this.#data(secret);
        const name = `${this.#nameStart({ index, template })}s${secret}`;
        if (data === undefined) continue;
        if (granularity === 'secret-path') wanted[name] = canonical(data);
        else for (const [key, value] of Object.entries(data)) wanted[`${name}x${key}`] = value;
      }
    }
    return wanted;
  }

  async #held(): Promise<Contents> {
    const held: Contents = {};
    for (const type of new Set(this.#destinations.map((one) => one.type))) {
      const { stores } = await this.#sandbox('GET', `stores?store=${type}&name=*x${this.#mount}x*`);
      for (const { name, value, deleted_at } of stores[type].secrets)
        if (deleted_at === null) held[name.toLowerCase()] = parsed(value);
    }
    return held;
  }

  async #until<Value>(look: () => Promise<Value>, wanted: Value): Promise<void> {
    const deadline = Date.now() + quietTimeoutMs;
    for (;;) {
      const value = await look();
      if (isDeepStrictEqual(value, wanted)) return;
      if (Date.now() > deadline)
        throw new Error(`wanted ${JSON.stringify(wanted)}, found ${JSON.stringify(value)}`);
      await sleep(pollMs);
    }
  }
}

const canonical = (data: Record<string, string>): string =>
  JSON.stringify(Object.fromEntries(Object.entries(data).sort(([a], [b]) => (a < b ? -1 : 1))));

/** The value of a whole secret with its keys in order; another value as it is. */
function parsed(value: string): string {
  try {
    const data: unknown = JSON.parse(value);
    return typeof data === 'object' && data !== null && !Array.isArray(data)
      ? canonical(data as Record<string, string>)
      : value;
  } catch {
    return value;
  }
}
