import { backoffMs } from './pause.ts';

/** A loop that publishes messages until it is stopped. */
export interface PublishingLoop {
  /** Ends the sleep between two rounds: there is something to publish. */
  notify(): void;
  /** Resolves when the current round has ended. */
  stop(): Promise<void>;
}

export interface PublishingLoopOptions {
  /**
   * Publishes what is due. Returns for how many milliseconds the loop may sleep, and whether the round shows that publishing
   * works.
   */
  round(): Promise<{ sleepMs: number; isProof: boolean }>;
  /** Called after each round that failed, with whether it is the first of an outage. */
  onFailure(error: unknown, isFirst: boolean): void;
  /** Called after the first round that shows that publishing works again. */
  onRecovery(): void;
}

const outagePause = { firstMs: 200, maxMs: 5_000 };

/** Repeats rounds, less and less often while they fail. Only `stop` shortens its pauses. */
export function startPublishingLoop({ round, onFailure, onRecovery }: PublishingLoopOptions): PublishingLoop {
  const wakes = new WakeSignal();
  let isStopping = false;
  const pause = async (ms: number) => {
    const end = performance.now() + ms;
    while (!isStopping && performance.now() < end) await wakes.wait(end - performance.now());
  };
  const run = async () => {
    let failures = 0;
    while (!isStopping) {
      try {
        const { sleepMs, isProof } = await round();
        if (failures > 0 && isProof) {
          onRecovery();
          failures = 0;
        }
        if (sleepMs > 0) await wakes.wait(sleepMs);
      } catch (error) {
        onFailure(error, failures === 0);
        await pause(backoffMs(failures, outagePause));
        failures += 1;
      }
    }
  };
  const ended = run();
  return {
    notify: () => wakes.wake(),
    stop: async () => {
      isStopping = true;
      wakes.wake();
      await ended;
    },
  };
}

/** Lets the loop sleep until there is work. A wake-up while the loop is busy is not lost. */
class WakeSignal {
  #isWoken = false;
  #end: (() => void) | undefined;

  wake(): void {
    this.#isWoken = true;
    this.#end?.();
  }

  /** Resolves at the next wake-up, immediately if there was one since the last wait, or after `ms`. */
  async wait(ms: number): Promise<void> {
    if (!this.#isWoken) await this.#next(ms);
    this.#isWoken = false;
  }

  #next(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#end?.(), ms);
      this.#end = () => {
        clearTimeout(timer);
        this.#end = undefined;
        resolve();
      };
    });
  }
}
