import type { Db } from '@secrets/db';
import type { Logger } from '@secrets/telemetry';
import { deleteExpiredTokens } from '../queries/tokens.ts';

const pageSize = 500;

/** Deletes every token that has ended, page by page. Gives how many. */
export async function sweepTokens(db: Db, isStopping: () => boolean = () => false): Promise<number> {
  let total = 0;
  for (;;) {
    const gone = await deleteExpiredTokens(db, pageSize);
    total += gone;
    if (gone < pageSize || isStopping()) return total;
  }
}

/** Sweeps again and again until stopped. */
export class TokenSweep {
  readonly #db: Db;
  readonly #log: Logger;
  readonly #pauseMs: number;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #stopped = true;

  constructor(db: Db, log: Logger, pauseSeconds: number) {
    this.#db = db;
    this.#log = log;
    this.#pauseMs = pauseSeconds * 1000;
  }

  start(): void {
    this.#stopped = false;
    this.#plan();
  }

  /** Resolves when the sweep under way, if any, has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #plan(): void {
    this.#timer = setTimeout(() => {
      this.#running = this.#sweep().finally(() => {
        if (!this.#stopped) this.#plan();
      });
    }, this.#pauseMs).unref();
  }

  async #sweep(): Promise<void> {
    try {
      const swept = await sweepTokens(this.#db, () => this.#stopped);
      if (swept > 0) this.#log.debug({ swept }, 'expired tokens were deleted');
    } catch (error) {
      this.#log.warn({ error }, 'expired tokens could not be deleted');
    }
  }
}
