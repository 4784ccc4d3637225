import { Fault } from '@secrets/domain';
import { parseResponse } from '@secrets/sync-worker';
import { Counted } from '../api/schema.ts';
import type { SecretScope } from '../api/secret-scope.ts';
import type { RemovedSecrets } from './removed-secrets.ts';

const validMs = 60_000;

/**
 * Counts the secrets of a scope, foreign ones included. The number is kept for a minute and follows the writes of this
 * client, so that creating many secrets does not list them each time.
 */
export class SecretCount {
  readonly #scope: SecretScope;
  readonly #removed: RemovedSecrets;
  #held: { count: number; untilMs: number } | undefined;

  constructor(scope: SecretScope, removed: RemovedSecrets) {
    this.#scope = scope;
    this.#removed = removed;
  }

  /**
   * Throws `Fault` `full` if the scope is full. A number that says so is not believed if it is not new, or if it may
   * include secrets that were removed since: then the provider decides.
   */
  async requireRoom(signal: AbortSignal): Promise<void> {
    const { maxSecrets, place } = this.#scope;
    const known = this.#held !== undefined && Date.now() < this.#held.untilMs ? this.#held.count : maxSecrets;
    if (known < maxSecrets) return;
    const count = await this.#fetch(signal);
    if (count - this.#removed.count >= maxSecrets)
      throw new Fault('full', `${place.label} already has ${count} secrets, and can have ${maxSecrets}`);
  }

  /**
   * Throws `Fault` `full` if the scope is full, removed secrets included. To be called after the provider has refused
   * to create one.
   */
  async requireRoomNow(signal: AbortSignal): Promise<void> {
    const { maxSecrets, place } = this.#scope;
    const count = await this.#fetch(signal);
    if (count >= maxSecrets)
      throw new Fault('full', `${place.label} already has ${count} secrets, and can have ${maxSecrets}`);
  }

  /** Follows what this client has created (1) or deleted (-1). */
  changeBy(difference: 1 | -1): void {
    if (this.#held !== undefined) this.#held.count += difference;
  }

  async #fetch(signal: AbortSignal): Promise<number> {
    const { data } = await this.#scope.count(signal);
    const { total_count: count } = parseResponse('listSecrets', Counted, data);
    this.#held = { count, untilMs: Date.now() + validMs };
    return count;
  }
}
