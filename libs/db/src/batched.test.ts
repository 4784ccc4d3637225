import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { batched } from './batched.ts';

/** A statement that records its calls; batches and single calls wait until they are opened. */
function recorded(
  batch: (items: readonly number[]) => (string | undefined)[] = (items) => items.map(String),
) {
  const { promise: batchGate, resolve: openBatches } = Promise.withResolvers<void>();
  const calls: number[][] = [];
  const singles: number[] = [];
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const call = batched<number, string>(
    async (items) => {
      calls.push([...items]);
      await batchGate;
      return batch(items);
    },
    async (item) => {
      singles.push(item);
      await gate;
      if (item < 0) throw new RangeError(`no ${item}`);
      return `single ${item}`;
    },
  );
  return { call, calls, singles, openBatches, openSingles: open };
}

/** Lets a batch be dispatched, which takes two immediates. */
const turn = async () => {
  await setImmediate();
  await setImmediate();
};

describe('batched', () => {
  test('the first call runs immediately; calls that arrive meanwhile form the next batch', async () => {
    const { call, calls, openBatches } = recorded();
    const first = call(1);
    await turn();
    const rest = Promise.all([call(2), call(3), call(4)]);
    await turn();
    expect(calls).toEqual([[1]]);
    openBatches();
    expect(await first).toBe('1');
    expect(await rest).toEqual(['2', '3', '4']);
    expect(calls).toEqual([[1], [2, 3, 4]]);
  });

  test('an item that the batch leaves out is handled singly', async () => {
    const { call, openBatches, openSingles } = recorded((items) =>
      items.map((item) => (item === 2 ? undefined : `${item}`)),
    );
    openBatches();
    openSingles();
    expect(await Promise.all([call(1), call(2), call(3)])).toEqual(['1', 'single 2', '3']);
  });

  test('neither the rest of a batch nor the next one waits for an item that is handled singly', async () => {
    const { call, calls, singles, openBatches, openSingles } = recorded((items) =>
      items.map((item) => (item === 2 ? undefined : `${item}`)),
    );
    openBatches();
    const single = call(2);
    expect(await call(1)).toBe('1');
    expect(await Promise.all([call(3), call(4)])).toEqual(['3', '4']);
    expect([calls, singles]).toEqual([
      [
        [2, 1],
        [3, 4],
      ],
      [2],
    ]);
    openSingles();
    expect(await single).toBe('single 2');
  });

  test('an item that fails does not fail the others', async () => {
    const { call, openBatches, openSingles } = recorded(() => {
      throw new Error('a value is bad');
    });
    openBatches();
    openSingles();
    const outcomes = await Promise.allSettled([call(1), call(-2), call(3)]);
    expect(
      outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : outcome.reason.message)),
    ).toEqual(['single 1', 'no -2', 'single 3']);
    expect(await call(4)).toBe('single 4');
  });

  test('an error that is final is thrown by every call of the batch, and by no later one', async () => {
    let isDown = true;
    const singles: number[] = [];
    const call = batched<number, string>(
      async (items) => {
        if (isDown) throw new RangeError('no response');
        return items.map(String);
      },
      async (item) => {
        singles.push(item);
        return '';
      },
      (error) => error instanceof RangeError,
    );
    const outcomes = await Promise.allSettled([call(1), call(2)]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    isDown = false;
    expect(await call(3)).toBe('3');
    expect(singles).toEqual([]);
  });

  test('batches have at most 100 items, and each call gets its own result', async () => {
    const { call, calls, openBatches } = recorded();
    openBatches();
    const items = Array.from({ length: 250 }, (_, index) => index);
    expect(await Promise.all(items.map(call))).toEqual(items.map(String));
    expect(calls.map((one) => one.length)).toEqual([100, 100, 50]);
  });
});
