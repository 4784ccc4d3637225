import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { type Place, Places } from './places.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** Takes so many places, and lets whoever must wait for one wait in vain. */
async function takeAll(places: Places, destination: string, count: number): Promise<(Place | undefined)[]> {
  const taking = Promise.all(Array.from({ length: count }, () => places.take(destination)));
  await jest.advanceTimersByTimeAsync(1_000);
  return taking;
}

test('a slow destination takes at most three quarters of the places, and others always find one', async () => {
  const places = new Places(4);
  const taken = await takeAll(places, 'slow', 4);
  expect(taken.map((place) => place !== undefined)).toEqual([true, true, true, false]);
  expect(await places.take('slow')).toBeUndefined();
  expect(await places.take('other')).toBeDefined();
  taken[0]!.leave();
  expect(await places.take('slow')).toBeDefined();
});

test('nobody is turned away from a destination that is quick, and the first who waits is the first who is let in', async () => {
  const places = new Places(2);
  const order: number[] = [];
  const work = async (number: number) => {
    const place = await places.take('quick');
    order.push(number);
    await new Promise((resolve) => setTimeout(resolve, 20));
    place!.leave();
  };
  const working = Promise.all([1, 2, 3, 4, 5].map(work));
  await jest.advanceTimersByTimeAsync(200);
  await working;
  expect(order).toEqual([1, 2, 3, 4, 5]);
});

test('a slow destination that is quick again is waited for again', async () => {
  const places = new Places(2);
  const [slow] = await takeAll(places, 'any', 2);
  slow!.leave();
  const quick = await places.take('any');
  const waiting = places.take('any');
  quick!.leave();
  expect(await waiting).toBeDefined();
});

test('one that was slow turns others away at once', async () => {
  const places = new Places(2);
  await takeAll(places, 'slow', 2);
  expect(await places.take('slow')).toBeUndefined();
});

test('the longer the queue before a slow one, the longer each waits, half a minute at most', async () => {
  const places = new Places(2);
  await takeAll(places, 'slow', 2);
  const waits: number[] = [];
  for (let turnedAway = 0; turnedAway < 2_000; turnedAway += 1) {
    await places.take('slow');
    waits.push(places.waitSeconds('slow'));
  }
  expect(waits[10]).toBeGreaterThan(waits[0]!);
  expect(waits.at(-1)).toBe(30);
});

test('a worker of one place still works', async () => {
  expect(await new Places(1).take('any')).toBeDefined();
});
