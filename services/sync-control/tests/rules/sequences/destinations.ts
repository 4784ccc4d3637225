import type { TestResponse } from '@secrets/http/testing';
import type { Model } from './model.ts';
import { type DestinationRequest, destinationCount } from './operations.ts';
import { destinationType } from './outside.ts';
import { type SeenSecret, seeSecrets } from './seen.ts';
import type { Stage } from './stage.ts';

/** The name templates of destinations: one with a name for each secret, and one with the same name for several. */
const templates = [
  {
    text: 'u/{{ .MountAccessor }}/{{ .SecretPath }}',
    name: ({ accessor, path }: SeenSecret) => `u/${accessor}/${path}`,
  },
  { text: 'b/{{ .SecretBaseName }}', name: ({ path }: SeenSecret) => `b/${path.split('/').at(-1)}` },
];

export const nameOf = (destination: number): string => `d${destination}`;
export const pathOf = (name: string): string => `/sys/sync/destinations/${destinationType}/${name}`;

/** The destinations of a sequence, and the associations that are held by hand. */
export class Destinations {
  readonly #stage: Stage;
  readonly #model: Model;
  /** The number of the template of each destination. */
  readonly #templates = new Map<string, number>();

  constructor(stage: Stage, model: Model) {
    this.#stage = stage;
    this.#model = model;
  }

  async create(): Promise<void> {
    for (let number = 0; number < destinationCount; number += 1) await this.#create(number);
  }

  /** The name that a secret has in a destination now. */
  externalName(destination: string, secret: SeenSecret): string {
    return templates[this.#templates.get(destination)!]!.name(secret);
  }

  async request(request: DestinationRequest): Promise<void> {
    switch (request.act) {
      case 'set':
      case 'remove':
        return this.#setOrRemove(request);
      case 'create':
        return this.#create(request.destination);
      case 'purge':
        return this.#purge(nameOf(request.destination));
      case 'replan':
        return this.#replan(request);
      case 'syncing':
        return this.#configure({ disabled: request.disabled });
      case 'queue':
        return this.#configure({ queue_capacity: request.capacity });
    }
  }

  async #configure(body: object): Promise<void> {
    expectStatus(await this.#stage.control('PATCH', '/sys/sync/config', body), 200);
  }

  async #create(number: number): Promise<void> {
    const name = nameOf(number);
    const { status } = await this.#stage.control('GET', pathOf(name));
    if (status !== 404) return;
    const body = { secret_name_template: templates[number]!.text };
    expectStatus(await this.#stage.control('POST', pathOf(name), body), 200);
    this.#templates.set(name, number);
  }

  async #purge(name: string): Promise<void> {
    const { status } = await this.#stage.control('DELETE', `${pathOf(name)}?purge=true`);
    if (status < 300) this.#model.forget(name);
  }

  async #replan({ destination, template }: Extract<DestinationRequest, { act: 'replan' }>): Promise<void> {
    const name = nameOf(destination);
    const body = { secret_name_template: templates[template]!.text };
    const { status } = await this.#stage.control('PATCH', pathOf(name), body);
    if (status !== 200) return; // it is being purged
    this.#templates.set(name, template);
    await this.#stage.control('POST', `${pathOf(name)}/replan`, {});
  }

  async #setOrRemove({
    act,
    destination,
    mount,
    path,
  }: Extract<DestinationRequest, { act: 'set' | 'remove' }>): Promise<void> {
    const name = nameOf(destination);
    const secret = (await seeSecrets(this.#stage.db)).find((one) => one.mount === mount && one.path === path);
    const body = { mount, secret_name: path };
    const response = await this.#stage.control('POST', `${pathOf(name)}/associations/${act}?wait=0`, body);
    if (response.status !== 200) return expectStatus(response, 400, 404, 409, 429);
    const held = `${name} ${secret?.id}`;
    if (act === 'set') this.#model.byHand.add(held);
    else this.#model.letGo(name, held, response.body.data.held_by_rules ?? []);
  }
}

export function expectStatus({ status, body }: TestResponse, ...accepted: number[]): void {
  if (!accepted.includes(status)) throw new Error(`status ${status}: ${JSON.stringify(body)}`);
}
