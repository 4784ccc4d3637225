import { expect, test } from '@jest/globals';
import { checkOverlaps, type ServedCall } from './overlaps.ts';

const call = (process: string, began: number, ended: number, isConcurrent = false): ServedCall => ({
  ...{ store: 'cloudA-sm', operation: 'PutSecretValue', name: 's' },
  ...{ process, began, ended, isConcurrent },
});
const overlapping = [call('worker', 1_000, 8_000), call('worker-2', 7_000, 7_100, true)];

test('calls for one external secret one after the other are fine', () => {
  expect(checkOverlaps([call('worker', 0, 10), call('worker-2', 10, 20)], [], 5_000)).toEqual([]);
});

test('two calls for one external secret at once are found, with both workers', () => {
  const [found] = checkOverlaps(overlapping, [], 5_000);
  expect(found).toContain('by worker-2 during PutSecretValue by worker,');
});

test('a worker that was stopped for longer than the rest of its lease may be overtaken', () => {
  expect(checkOverlaps(overlapping, [{ process: 'worker', from: 1_500, to: 7_500 }], 5_000)).toEqual([]);
});

test('a short standstill, one at another time and one of a third worker excuse nothing', () => {
  const standstills = [
    { process: 'worker', from: 1_500, to: 2_500 },
    { process: 'worker', from: 20_000, to: 28_000 },
    { process: 'worker-3', from: 1_500, to: 7_500 },
  ];
  expect(checkOverlaps(overlapping, standstills, 5_000)).toHaveLength(1);
});
