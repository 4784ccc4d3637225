import { expect, test } from '@jest/globals';
import { checkLeases, type LeaseChange } from './leases.ts';

const change = (
  process: string,
  before: string | null,
  after: string | null,
  wasHeld = false,
): LeaseChange => ({ entryId: 'e', before, after, wasHeld, process });

test('claims, outcomes of the holder, and claims after a lease has ended are fine', () => {
  const changes = [
    change('worker', null, 'w1'),
    change('worker', 'w1', null),
    change('worker', null, 'w1'),
    change('worker-2', 'w1', 'w2'),
    change('worker-2', 'w2', null),
  ];
  expect(checkLeases(changes)).toEqual([]);
});

test('a claim of an entry that is held is found', () => {
  const changes = [change('worker', null, 'w1'), change('worker-2', 'w1', 'w2', true)];
  expect(checkLeases(changes)).toEqual(['worker-2 claimed entry e while worker held it']);
});

test('an outcome of a worker that has lost its lease is found', () => {
  const changes = [
    change('worker', null, 'w1'),
    change('worker-2', 'w1', 'w2'),
    change('worker', 'w2', null),
  ];
  expect(checkLeases(changes)).toEqual(['worker recorded an outcome of entry e while worker-2 held it']);
});

test('another service may end a lease', () => {
  expect(checkLeases([change('worker', null, 'w1'), change('sync-control', 'w1', null)])).toEqual([]);
});
