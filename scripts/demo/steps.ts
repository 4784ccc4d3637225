import { isDeepStrictEqual } from 'node:util';

let count = 0;

/** Prints a step and does it; whatever it gives back is printed behind it. */
export async function step<T>(sentence: string, work: () => Promise<T>): Promise<T> {
  count += 1;
  process.stdout.write(`${String(count).padStart(2)}. ${sentence} `);
  const began = performance.now();
  const result = await work();
  const shown = typeof result === 'string' ? `→ ${result} ` : '';
  process.stdout.write(`${shown}(${Math.round(performance.now() - began)} ms)\n`);
  return result;
}

/** Throws unless both are the same. */
export function expectEqual(actual: unknown, expected: unknown, what: string): void {
  if (isDeepStrictEqual(actual, expected)) return;
  throw new Error(`${what}: expected ${JSON.stringify(expected)}, saw ${JSON.stringify(actual)}`);
}

/** Looks again until `look` gives what is expected, for at most so many milliseconds. Gives the time it took. */
export async function eventually(
  look: () => Promise<unknown>,
  expected: unknown,
  what: string,
  timeoutMs = 1_000,
): Promise<number> {
  const began = performance.now();
  for (;;) {
    const actual = await look();
    if (isDeepStrictEqual(actual, expected)) return performance.now() - began;
    if (performance.now() - began > timeoutMs)
      expectEqual(actual, expected, `${what}, after ${timeoutMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
