import { describeDuration, record } from './recorded-seconds.ts';

interface Test {
  path: string;
}

interface Result {
  perfStats: { runtime: number };
}

const everyMs = 30_000;

/** Prints now and then how much is left of the files in `TEST_FILES`. With `RECORD_SECONDS=1`, records how long each one took. */
export default class ProgressReporter {
  readonly #all: string[] = (process.env.TEST_FILES ?? '').split(',');
  readonly #seconds = new Map<string, number>();
  #printedAt = Date.now();

  onTestFileResult({ path }: Test, { perfStats }: Result): void {
    this.#seconds.set(path, perfStats.runtime / 1_000);
    if (Date.now() - this.#printedAt < everyMs) return;
    this.#printedAt = Date.now();
    const left = this.#all.filter((one) => !this.#seconds.has(one));
    console.log(`${this.#seconds.size} of ${this.#all.length} files, ${describeDuration(left)} left`);
  }

  onRunComplete(): void {
    if (process.env.RECORD_SECONDS === '1') record(this.#seconds);
  }
}
