import { setImmediate } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { coalescedRead } from './coalesced-read.ts';

test('a result is never older than its call, and only one read runs at a time', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat({ max: 4 }), { minLength: 1, maxLength: 60 }), async (pauses) => {
      let started = 0;
      let running = 0;
      const call = coalescedRead(async () => {
        running += 1;
        expect(running).toBe(1);
        const number = ++started;
        await Promise.resolve();
        await setImmediate();
        running -= 1;
        return number;
      });
      const calls: Promise<void>[] = [];
      for (const pause of pauses) {
        const before = started;
        calls.push(
          call().then(async (read) => {
            expect(read).toBeGreaterThan(before);
            const beforeSecond = started;
            expect(await call()).toBeGreaterThan(beforeSecond);
          }),
        );
        for (let tick = 0; tick < pause; tick++) await Promise.resolve();
        if (pause === 4) await setImmediate();
      }
      await Promise.all(calls);
      expect(running).toBe(0);
    }),
    { numRuns: 200 },
  );
});

test('a thousand concurrent calls share one read', async () => {
  let reads = 0;
  const call = coalescedRead(async () => {
    await setImmediate();
    return ++reads;
  });
  await Promise.all(Array.from({ length: 1000 }, call));
  expect(reads).toBe(1);
});

test('a failed read fails only the calls that waited for it', async () => {
  let reads = 0;
  const call = coalescedRead(async () => {
    reads += 1;
    if (reads === 1) throw new Error('down');
    return reads;
  });
  expect((await Promise.allSettled([call(), call()])).map(({ status }) => status)).toEqual([
    'rejected',
    'rejected',
  ]);
  expect(await call()).toBe(2);
});
