import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { DestinationLimiter, type Slot } from './destination-limiter.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** Acquires `count` slots. Calls that have to wait for one time out. */
async function acquireAll(
  limiter: DestinationLimiter,
  destination: string,
  count: number,
): Promise<(Slot | undefined)[]> {
  const taking = Promise.all(Array.from({ length: count }, () => limiter.acquire(destination)));
  await jest.advanceTimersByTimeAsync(1_000);
  return taking;
}

test('a slow destination gets at most three quarters of the slots', async () => {
  const limiter = new DestinationLimiter(4);
  const taken = await acquireAll(limiter, 'slow', 4);
  expect(taken.map((slot) => slot !== undefined)).toEqual([true, true, true, false]);
  expect(await limiter.acquire('slow')).toBeUndefined();
  expect(await limiter.acquire('other')).toBeDefined();
  taken[0]!.release();
  expect(await limiter.acquire('slow')).toBeDefined();
});

test('a fast destination rejects no entry and serves them in order', async () => {
  const limiter = new DestinationLimiter(2);
  const order: number[] = [];
  const work = async (number: number) => {
    const slot = await limiter.acquire('quick');
    order.push(number);
    await new Promise((resolve) => setTimeout(resolve, 20));
    slot!.release();
  };
  const working = Promise.all([1, 2, 3, 4, 5].map(work));
  await jest.advanceTimersByTimeAsync(200);
  await working;
  expect(order).toEqual([1, 2, 3, 4, 5]);
});

test('a destination that is fast again makes entries wait instead of rejecting them', async () => {
  const limiter = new DestinationLimiter(2);
  const [slow] = await acquireAll(limiter, 'any', 2);
  slow!.release();
  const quick = await limiter.acquire('any');
  const waiting = limiter.acquire('any');
  quick!.release();
  expect(await waiting).toBeDefined();
});

test('a destination that was slow rejects entries at once', async () => {
  const limiter = new DestinationLimiter(2);
  await acquireAll(limiter, 'slow', 2);
  expect(await limiter.acquire('slow')).toBeUndefined();
});

test('the retry delay grows with the rejected entries, up to 30 seconds', async () => {
  const limiter = new DestinationLimiter(2);
  await acquireAll(limiter, 'slow', 2);
  const waits: number[] = [];
  for (let rejected = 0; rejected < 2_000; rejected += 1) {
    await limiter.acquire('slow');
    waits.push(limiter.retryDelaySeconds('slow'));
  }
  expect(waits[10]).toBeGreaterThan(waits[0]!);
  expect(waits.at(-1)).toBe(30);
});

test('a destination gets at least one slot', async () => {
  expect(await new DestinationLimiter(1).acquire('any')).toBeDefined();
});
