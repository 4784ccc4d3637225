import { expect, test } from '@jest/globals';
import { faultKinds } from './fault.ts';
import { nextStatus, statusOfAll, syncStatuses } from './sync-status.ts';

test('every fault leads to a status that names whose turn it is', () => {
  for (const fault of faultKinds)
    expect(['CLIENT_SIDE_ERROR', 'EXTERNAL_SERVICE_ERROR']).toContain(nextStatus.failed(fault, 5));
});

test('what is over in a moment is still pending; every other fault shows at once', () => {
  const transient = faultKinds.filter((fault) => nextStatus.failed(fault, 1) === 'PENDING');
  expect(transient).toEqual(['throttled', 'not_ready']);
  for (const fault of transient) expect(nextStatus.failed(fault, 4)).toBe('PENDING');
});

test('an association shows what most wants attention', () => {
  expect(statusOfAll(['SYNCED', 'SYNCED'])).toBe('SYNCED');
  expect(statusOfAll(['SYNCED', 'PENDING'])).toBe('PENDING');
  expect(statusOfAll(['PENDING', 'CLIENT_SIDE_ERROR', 'SYNCED'])).toBe('CLIENT_SIDE_ERROR');
  for (const status of syncStatuses) expect(statusOfAll([status])).toBe(status);
});
