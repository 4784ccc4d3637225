import { isDeepStrictEqual } from 'node:util';
import type { Answer } from '../../tests/harness/http.ts';

/** Prints a step, does it, and prints what it returns, its duration, and what the external store holds afterwards. */
export type Step = (
  sentence: string,
  work: () => Promise<string | undefined> | Promise<void>,
) => Promise<void>;

/** Returns a `Step` that numbers the steps; `storeLines` describes the external store. */
export function numberedSteps(storeLines: () => Promise<string[]>, label = 'store: '): Step {
  let number = 0;
  return async (sentence, work) => {
    number += 1;
    process.stdout.write(`${String(number).padStart(2)}. ${sentence}`);
    const started = performance.now();
    const result = await work();
    const milliseconds = Math.round(performance.now() - started);
    process.stdout.write(`${result === undefined ? '' : ` → ${result}`} (${milliseconds} ms)\n`);
    for (const line of await storeLines()) process.stdout.write(`    ${label}${line}\n`);
  };
}

/** Throws if the values differ. */
export function expectEqual(actual: unknown, expected: unknown, what: string): void {
  if (isDeepStrictEqual(actual, expected)) return;
  throw new Error(`${what}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`);
}

/** Returns `refused` with the reason. Throws if the answer has another status than 403. */
export function refusal({ status, body }: Answer, what: string): string {
  expectEqual(status, 403, `status of ${what}`);
  return `refused: ${body.errors.join('; ')}`;
}
