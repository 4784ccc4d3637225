import { type Api, expectStatus } from '../harness/http.ts';
import {
  contentsOf,
  type Expected,
  type NamePlace,
  nameStart,
  type Shape,
  shapeFields,
} from './expected-contents.ts';
import { type Operation, secretCount } from './operations.ts';
import type { Outside } from './outside.ts';
import type { PlayedSecrets } from './played-secrets.ts';
import { refusal } from './refusals.ts';
import { until } from './until.ts';

/** An operation on a destination or one of its associations. */
type DestinationOperation = Extract<Operation, { destination: number }>;

interface Place extends NamePlace {
  path: string;
}

/** Secrets are named by number. */
const allSecrets = Array.from({ length: secretCount }, (_, secret) => secret);

/** A destination of a sequence, and what it should have. */
export class PlayedDestination {
  readonly #place: Place;
  readonly #api: Api;
  readonly #outside: Outside;
  #shape: Shape = { template: 0, granularity: 'secret-path' };
  /** By the number of the secret: the shapes that the association has had, the current one last. */
  readonly #associations = new Map<number, Shape[]>();

  constructor(place: Place, api: Api, outside: Outside) {
    this.#place = place;
    this.#api = api;
    this.#outside = outside;
  }

  get type(): string {
    return this.#place.type;
  }

  async create(settings: object): Promise<void> {
    const shape = shapeFields(this.#place, this.#shape);
    expectStatus(await this.#api('POST', this.#place.path, { ...settings, ...shape }), 200);
  }

  async perform(operation: DestinationOperation): Promise<void> {
    switch (operation.act) {
      case 'set': {
        const { status, body } = await this.#associate('set', operation.secret);
        if (status === 200) this.#reshaped(operation.secret);
        else if (status !== 409) expectStatus({ status, body }, 400); // 409: a name is taken; 400: no version is readable
        return;
      }
      case 'remove':
        return this.#remove(operation.secret);
      case 'reshape':
        this.#shape = { template: operation.template, granularity: operation.granularity };
        return this.#configure();
      case 'replan':
        return this.#replan();
      case 'retry':
        return void expectStatus(await this.#api('POST', `${this.#place.path}/retry`, {}), 200);
      case 'refuse':
        return this.#fault({ ...refusal(this.type, operation.reason), times: operation.times });
      case 'fault': {
        const { effect, times } = operation;
        // Some providers mean a minute or more if they name no time.
        const wait = effect === 'throttle' ? { retryAfterSeconds: 1 } : {};
        return this.#fault({ effect, times, ...wait });
      }
    }
  }

  /** The secret, with its associations, was dropped. */
  forget(secret: number): void {
    this.#associations.delete(secret);
  }

  /**
   * After a loss of commits, does again what may be lost, and sets all associations again, as
   * docs/operations/running.md#after-a-failover-that-lost-commits says.
   */
  async setAgain(): Promise<void> {
    await this.#configure();
    const overwrite = this.type === 'codehost';
    for (const secret of allSecrets) {
      const isSet =
        this.#associations.has(secret) &&
        (await this.#associate('set', secret, { overwrite })).status === 200;
      if (isSet) this.#reshaped(secret);
      else await this.#remove(secret);
    }
  }

  async purge(): Promise<void> {
    expectStatus(await this.#api('DELETE', `${this.#place.path}?purge=true`), 204);
  }

  /** The external secrets that each association should have. */
  async expected(secrets: PlayedSecrets): Promise<Expected[]> {
    const expected: Expected[] = [];
    for (const [secret, shapes] of this.#associations) {
      const data = await secrets.data(secret);
      if (data === undefined) continue;
      const by = (shape: Shape) => contentsOf(this.#place, shape, { name: `s${secret}`, data });
      const before = Object.assign({}, ...shapes.map(by));
      expected.push({ destination: this.#place.path, now: by(shapes.at(-1)!), before });
    }
    return expected;
  }

  #associate(act: 'set' | 'remove', secret: number, options: object = {}) {
    const body = { mount: this.#place.mount, secret_name: `s${secret}`, ...options };
    return this.#api('POST', `${this.#place.path}/associations/${act}?wait=0`, body);
  }

  async #remove(secret: number): Promise<void> {
    expectStatus(await this.#associate('remove', secret), 200);
    this.#associations.delete(secret);
  }

  async #configure(): Promise<void> {
    const fields = shapeFields(this.#place, this.#shape);
    expectStatus(await this.#api('PATCH', this.#place.path, fields), 200);
  }

  async #replan(): Promise<void> {
    const { path } = this.#place;
    expectStatus(await this.#api('POST', `${path}/replan`, {}), 200);
    await until(async () => {
      const { replan_initiated_at: started } = (await this.#api('GET', path)).body.data;
      return (started ?? null) === null || 'a replan has not ended';
    });
    for (const secret of this.#associations.keys()) this.#reshaped(secret);
  }

  /** Notes that an association has the shape of the destination now. */
  #reshaped(secret: number): void {
    this.#associations.set(secret, [...(this.#associations.get(secret) ?? []), this.#shape]);
  }

  /** Adds a fault for the calls about external secrets of the destination. */
  #fault(fault: object): Promise<void> {
    return this.#outside.fault(this.type, nameStart(this.#place, 0).slice(2), fault);
  }
}
