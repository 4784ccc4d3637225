/** Lets one loop sleep until there is work. A wake-up that comes while the loop is busy is not lost. */
export class WakeSignal {
  #woken = false;
  #end: (() => void) | undefined;

  wake(): void {
    this.#woken = true;
    this.#end?.();
  }

  /** Resolves at the next wake-up, at once if there was one since the last wait, and after `ms` in any case. */
  async wait(ms: number): Promise<void> {
    if (!this.#woken) await this.#next(ms);
    this.#woken = false;
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
