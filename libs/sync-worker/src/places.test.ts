import { expect, test } from '@jest/globals';
import { Places } from './places.ts';

test('one destination takes at most half of the places, and others always find one', () => {
  const places = new Places(4);
  const [first] = [places.take('slow'), places.take('slow')];
  expect(places.take('slow')).toBeUndefined();
  expect(places.take('other')).toBeDefined();
  first!.leave();
  expect(places.take('slow')).toBeDefined();
});

test('the longer the queue before a slow one, the longer each waits, half a minute at most', () => {
  const places = new Places(2);
  places.take('slow');
  const waits = Array.from({ length: 2_000 }, () => {
    places.take('slow');
    return places.waitSeconds('slow');
  });
  expect(waits[10]).toBeGreaterThan(waits[0]!);
  expect(waits.at(-1)).toBe(30);
});

test('a worker of one place still works', () => {
  expect(new Places(1).take('any')).toBeDefined();
});
