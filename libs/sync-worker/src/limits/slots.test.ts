import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { type Slot, Slots } from './slots.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** Acquires slots, for a destination each unless one is named, and returns those that are held so far. */
function acquiring(slots: Slots, count: number, destinationId?: string): Slot[] {
  const held: Slot[] = [];
  for (let index = 0; index < count; index += 1)
    void slots.acquire(destinationId ?? `d${index}`).then((slot) => slot !== undefined && held.push(slot));
  return held;
}
const settled = () => jest.advanceTimersByTimeAsync(0);

test('as many entries are worked on promptly as the concurrency allows; others wait for a slot', async () => {
  const held = acquiring(new Slots(4), 5);
  await settled();
  expect(held).toHaveLength(4);
  held[0]!.release();
  await settled();
  expect(held).toHaveLength(5);
});

test('an entry that takes longer than a second frees its slot for others, up to half of the concurrency', async () => {
  const held = acquiring(new Slots(4), 10);
  await settled();
  await jest.advanceTimersByTimeAsync(1_001);
  expect(held).toHaveLength(6); // two of the first four are slow, and two more have begun
  await jest.advanceTimersByTimeAsync(10_000);
  expect(held).toHaveLength(6);
});

test('a slow entry that ends makes room for another slow one', async () => {
  const slots = new Slots(2);
  const held = acquiring(slots, 4);
  await jest.advanceTimersByTimeAsync(1_001);
  expect(held).toHaveLength(3);
  held[0]!.release();
  held[1]!.release();
  await settled();
  expect(held).toHaveLength(4);
  await jest.advanceTimersByTimeAsync(1_001);
  const last = acquiring(slots, 1);
  await settled();
  expect(last).toHaveLength(1);
});

test('a slow entry that kept its slot frees it as soon as a slot for slow ones is free', async () => {
  const held = acquiring(new Slots(2), 5);
  await jest.advanceTimersByTimeAsync(1_001);
  expect(held).toHaveLength(3); // one moved; one is slow and keeps its slot
  held[0]!.release();
  await settled();
  expect(held).toHaveLength(4);
  for (const slot of held) slot.release();
});

test('reports a slow entry once, and not one that was released in time', async () => {
  const [first, second] = await Promise.all([new Slots(2).acquire('a'), new Slots(2).acquire('b')]);
  const reported: string[] = [];
  first!.whenSlow(() => reported.push('first'));
  second!.whenSlow(() => reported.push('second'));
  second!.release();
  await jest.advanceTimersByTimeAsync(5_000);
  expect(reported).toEqual(['first']);
});

test('a destination that has stopped responding gets no further slot, and its entries do not wait in front of others', async () => {
  const slots = new Slots(4);
  const silent = acquiring(slots, 6, 'silent');
  const healthy = acquiring(slots, 2, 'healthy');
  await jest.advanceTimersByTimeAsync(999);
  expect([silent.length, healthy.length]).toEqual([4, 0]);
  await jest.advanceTimersByTimeAsync(2);
  expect([silent.length, healthy.length]).toEqual([4, 2]);
  expect(await slots.acquire('silent')).toBeUndefined();
  for (const slot of silent) slot.release();
  expect(await slots.acquire('silent')).toBeDefined();
});
