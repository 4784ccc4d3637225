import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { sharedRead } from './shared-read.ts';

test('no answer is older than its question, and one read runs at a time', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat({ max: 4 }), { minLength: 1, maxLength: 60 }), async (pauses) => {
      let started = 0;
      let running = 0;
      const ask = sharedRead(async () => {
        running += 1;
        expect(running).toBe(1);
        const mine = ++started;
        await Promise.resolve();
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
        return mine;
      });
      const asked: Promise<void>[] = [];
      for (const pause of pauses) {
        const before = started;
        asked.push(
          ask().then(async (read) => {
            expect(read).toBeGreaterThan(before);
            const again = started;
            expect(await ask()).toBeGreaterThan(again);
          }),
        );
        for (let tick = 0; tick < pause; tick++) await Promise.resolve();
        if (pause === 4) await new Promise((resolve) => setImmediate(resolve));
      }
      await Promise.all(asked);
      expect(running).toBe(0);
    }),
    { numRuns: 200 },
  );
});

test('a thousand who ask at once cost one read', async () => {
  let reads = 0;
  const ask = sharedRead(async () => {
    await new Promise((resolve) => setImmediate(resolve));
    return ++reads;
  });
  await Promise.all(Array.from({ length: 1000 }, ask));
  expect(reads).toBe(1);
});

test('reads keep their distance under load, and nobody waits who asks after a while', async () => {
  const began: number[] = [];
  const ask = sharedRead(async () => void began.push(performance.now()), 20);
  const asking = performance.now();
  await ask();
  await Promise.all([ask(), ask()]);
  expect(began).toHaveLength(2);
  expect(began[1]! - asking).toBeGreaterThan(17);
  await sharedRead(async () => undefined, 3_600_000)(); // nobody asked before: an hour's distance is not waited for
});

test('a failed read fails for those who waited for it, and no longer', async () => {
  let reads = 0;
  const ask = sharedRead(async () => {
    reads += 1;
    if (reads === 1) throw new Error('down');
    return reads;
  });
  expect((await Promise.allSettled([ask(), ask()])).map(({ status }) => status)).toEqual([
    'rejected',
    'rejected',
  ]);
  expect(await ask()).toBe(2);
});
