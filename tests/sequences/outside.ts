import { setTimeout as sleep } from 'node:timers/promises';
import { findDescription } from '../../libs/destinations/src/index.ts';
import { type Answer, send } from '../harness/http.ts';
import { type Contents, parsed } from './expected-contents.ts';

const pollMs = 200;
/** The time in which the sandbox is ready again after it was killed. */
const awayMs = 300_000;

/** The stores of a sequence in the sandbox. Requests are repeated until it answers, since it is killed with the service. */
export class Outside {
  readonly #url: string;
  /** A text in the names of all external secrets of the sequence, and in no others. */
  readonly #mark: string;

  constructor(sandboxUrl: string, mark: string) {
    this.#url = `${sandboxUrl}/_sandbox`;
    this.#mark = mark;
  }

  /** Adds a fault for the calls about external secrets whose names have this text. */
  async fault(type: string, part: string, fault: object): Promise<void> {
    await this.#request('POST', 'faults', { store: type, name: `*${part}*`, ...fault });
  }

  async clearFaults(): Promise<void> {
    const { faults } = await this.#request('GET', 'faults');
    for (const { id, name } of faults as { id: string; name?: string }[])
      if (name?.includes(this.#mark)) await this.#removeFault(id);
  }

  /** A fault whose calls are used up is gone already. */
  async #removeFault(id: string): Promise<void> {
    await send(`${this.#url}/faults/${id}`, 'DELETE').catch(() => undefined);
  }

  /** The external secrets of the sequence in the stores of these types. */
  async held(types: Iterable<string>): Promise<Contents> {
    const held: Record<string, string> = {};
    for (const type of new Set(types)) {
      const { collisionKey } = findDescription(type).nameRule;
      const { stores } = await this.#request('GET', `stores?store=${type}&name=*${this.#mark}*`);
      for (const { name, value, deleted_at } of stores[type].secrets)
        if (deleted_at === null) held[collisionKey(name)] = parsed(value);
    }
    return held;
  }

  async #request(method: string, path: string, body?: unknown): Promise<Answer['body']> {
    for (const deadline = Date.now() + awayMs; Date.now() < deadline; await sleep(pollMs)) {
      const answer = await send(`${this.#url}/${path}`, method, { body }).catch(() => undefined);
      if (answer !== undefined && answer.status < 300) return answer.body;
    }
    throw new Error('the sandbox does not answer any more');
  }
}
