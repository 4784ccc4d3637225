import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { compilePolicies } from '../matching/compile-policies.ts';
import { decideOnEach } from './policy-reader.ts';

const plusPaths = (count: number) =>
  compilePolicies([
    {
      paths: Array.from({ length: count }, (_, at) => ({
        path: `${'+/a/'.repeat(31)}+/${at}`,
        capabilities: ['read' as const],
      })),
    },
  ]);

/** In how many turns of the event loop 256 paths are decided on. */
async function turnsFor(count: number): Promise<number> {
  let turns = 0;
  let isDone = false;
  const counting = (async () => {
    while (!isDone) {
      turns += 1;
      await nextTurn();
    }
  })();
  const paths = Array.from({ length: 256 }, (_, at) => `a/${at}`);
  const results = await decideOnEach(`namespace ${count}`, plusPaths(count), paths, (path) => path.length);
  isDone = true;
  await counting;
  expect(results).toEqual(paths.map((path) => path.length));
  return turns;
}

test('many paths are decided on in parts, if each may take many comparisons', async () => {
  expect(await turnsFor(1)).toBeLessThan(10);
  expect(await turnsFor(200)).toBeGreaterThan(200);
});
