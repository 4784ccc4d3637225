import type { Logger } from '@secrets/telemetry';

const intervalMs = 5_000;

/** Logs how far a long operation is, every five seconds. */
export class Progress {
  readonly #log: Logger;
  readonly #sentence: string;
  #loggedAt = performance.now();
  #bytes = 0;

  constructor(log: Logger, sentence: string) {
    this.#log = log;
    this.#sentence = sentence;
  }

  /** Passes chunks on, and counts them. */
  async *count(table: string, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      this.#bytes += chunk.length;
      if (performance.now() - this.#loggedAt > intervalMs) {
        this.#loggedAt = performance.now();
        this.#log.info({ table, mib: Math.round(this.#bytes / 1_048_576) }, this.#sentence);
      }
      yield chunk;
    }
  }
}
