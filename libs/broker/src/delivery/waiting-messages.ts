import type { BrokerLog } from '../broker.ts';

/**
 * The messages of a queue that wait for a dependency. However many wait, an outage is logged once at its begin and once at
 * its end.
 */
export class WaitingMessages {
  readonly #log: BrokerLog;
  readonly #ids = new Set<string>();
  #isAway = false;

  constructor(log: BrokerLog) {
    this.#log = log;
  }

  /** A message waits. The fields say why. */
  add(messageId: string, fields: object): void {
    if (!this.#isAway) this.#log.warn(fields, 'messages wait: a dependency is away');
    this.#isAway = true;
    this.#ids.add(messageId);
  }

  /** A message was returned to the queue while it waited. */
  forget(messageId: string): void {
    this.#ids.delete(messageId);
  }

  /** A message was handled, which shows that the dependency is back if no other one waits. */
  handled(messageId: string, fields: object): void {
    this.#ids.delete(messageId);
    if (!this.#isAway || this.#ids.size > 0) return;
    this.#isAway = false;
    this.#log.info(fields, 'messages no longer wait');
  }
}
