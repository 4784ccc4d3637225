import { expect, test } from '@jest/globals';
import type { EventRow } from '../queries/events.ts';
import { presentEvent } from './present-event.ts';

const row: EventRow = {
  xid: '1',
  second: 1,
  id: '1',
  at: new Date(0),
  kind: 'entry',
  namespaceId: 'root',
  destinationType: 'cloudA-sm',
  destinationName: 'd',
  mount: 'kv',
  secretName: 'shop/db',
  laneId: null,
  namespacesOfLane: [],
  subKey: 'password',
  externalName: 'shop-db',
  status: 'CLIENT_SIDE_ERROR',
  outcome: 'failed',
  fault: 'forbidden',
  error: 'no permission',
  attempts: 2,
  work: null,
  pausedUntil: null,
  drift: null,
};
const root = { id: 'root', path: '' };
const readable =
  (...paths: string[]) =>
  (path: string) =>
    paths.includes(path);

const status = {
  namespace: '',
  type: 'cloudA-sm',
  name: 'd',
  mount: 'kv',
  secret_name: 'shop/db',
  sync_status: 'CLIENT_SIDE_ERROR',
};

test('who may read the associations of the destination sees the whole entry', () => {
  const mayRead = readable('sys/sync/destinations/cloudA-sm/d/associations');
  expect(presentEvent(row, root, mayRead)).toEqual({
    ...status,
    sub_key: 'password',
    external_name: 'shop-db',
    outcome: 'failed',
    fault: 'forbidden',
    last_error: 'no permission',
    attempts: 2,
  });
});

test('who may only read where the secret is synced to sees the status', () => {
  const mayRead = readable('sys/sync/associations/kv/shop/db');
  expect(presentEvent(row, root, mayRead)).toEqual(status);
});

test.each([
  { kind: 'entry', over: {}, path: 'sys/sync/destinations/cloudA-sm/d' },
  { kind: 'association_set', over: {}, path: 'sys/sync/associations/kv/shop' },
  { kind: 'destination_updated', over: {}, path: 'sys/sync/destinations/cloudA-sm/d/associations' },
  { kind: 'destination_paused', over: {}, path: 'sys/sync/destinations/cloudA-sm/d' },
  { kind: 'lane_paused', over: { laneId: 'l', namespacesOfLane: ['root'] }, path: 'sys/sync/status' },
  { kind: 'sync_disabled', over: { namespaceId: null }, path: 'sys/sync/lanes' },
  { kind: 'sync_held', over: { namespaceId: null }, path: 'sys/sync/lanes' },
])('$kind is not shown to those who may read another path', ({ kind, over, path }) => {
  expect(presentEvent({ ...row, kind, ...over }, root, readable(path))).toBeUndefined();
});

test.each([
  { kind: 'destination_updated', path: 'sys/sync/destinations/cloudA-sm/d', shown: {} },
  { kind: 'repairs_held', path: 'sys/sync/destinations/cloudA-sm/d', shown: {} },
  { kind: 'work_started', path: 'sys/sync/destinations/cloudA-sm/d', shown: { work: 'purge' } },
  {
    kind: 'destination_paused',
    path: 'sys/sync/status',
    shown: {
      reason: 'the provider forbids every call: the credentials lack permissions',
      paused_until: '1970-01-01T00:00:00.000Z',
    },
  },
])('$kind is shown to those who may read $path', ({ kind, path, shown }) => {
  const work = kind === 'work_started' ? 'purge' : null;
  const event = presentEvent({ ...row, kind, work, pausedUntil: new Date(0) }, root, readable(path));
  expect(event).toEqual({ namespace: '', type: 'cloudA-sm', name: 'd', ...shown });
});

test.each(['drift_found', 'drift_repaired'])(
  '%s is shown to those who may read the associations of its destination',
  (kind) => {
    const found = { ...row, kind, status: null, drift: 'changed' };
    expect(presentEvent(found, root, readable('sys/sync/destinations/cloudA-sm/d/associations'))).toEqual({
      namespace: '',
      type: 'cloudA-sm',
      name: 'd',
      mount: 'kv',
      secret_name: 'shop/db',
      sub_key: 'password',
      external_name: 'shop-db',
      drift: 'changed',
    });
    expect(presentEvent(found, root, readable('sys/sync/associations/kv/shop/db'))).toBeUndefined();
  },
);

test('nothing of another namespace is shown', () => {
  const all = () => true;
  const team = { id: 'team', path: 'team' };
  expect(presentEvent(row, team, all)).toBeUndefined();
  const ofLane = { ...row, kind: 'lane_paused', laneId: 'l', namespacesOfLane: ['root'] };
  expect(presentEvent(ofLane, team, all)).toBeUndefined();
  expect(presentEvent({ ...row, kind: 'sync_enabled', namespaceId: null }, team, all)).toEqual({
    namespace: 'team',
  });
});

test('an entry whose association is gone names nothing, so it is not shown', () => {
  expect(presentEvent({ ...row, mount: null, secretName: null }, root, () => true)).toBeUndefined();
});

test('who may read a rule sees what it refuses', () => {
  const refused = { ...row, kind: 'rule_refused', work: 'r' };
  const mayRead = readable('sys/sync/destinations/cloudA-sm/d/rules/r');
  const names = { namespace: '', type: 'cloudA-sm', name: 'd', rule: 'r' };
  expect(presentEvent(refused, root, mayRead)).toEqual({ ...names, mount: 'kv', secret_name: 'shop/db' });
  expect(
    presentEvent({ ...refused, kind: 'rule_created', mount: null, secretName: null }, root, mayRead),
  ).toEqual(names);
  expect(presentEvent(refused, root, readable('sys/sync/destinations/cloudA-sm/d'))).toBeUndefined();
});
