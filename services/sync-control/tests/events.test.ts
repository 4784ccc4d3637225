import { beforeEach, expect, test } from '@jest/globals';
import { Audience, rowGuard } from '@secrets/access';
import { testCaller } from '@secrets/http/testing';
import { countEvents } from '../src/events/count-events.ts';
import { framesOf } from '../src/events/event-frames.ts';
import { type EventPosition, readEventHorizon, readEvents } from '../src/queries/events.ts';
import { eventually, type Fixture, useSyncControl } from './sync-control-for-test.ts';

const sync = useSyncControl();
let at: Fixture;

beforeEach(async () => {
  await sync.reset();
  await sync.db.query('delete from sync.outcome_minutes');
  at = await sync.fixture();
});

const readAtOnce = (after: EventPosition, limit = 100) =>
  readEvents(sync.db, { after, limit, namespaceIds: ['root', 'admin'] });
/** Other tests fill large databases on the same server, each in one transaction. */
const longestSeconds = 240;
/** Waits until every transaction that runs has ended: those of other tests, which use the same server, delay the events. */
async function settled(): Promise<void> {
  const [row] = await sync.db.query<{ next: string }>(
    'select pg_snapshot_xmax(pg_current_snapshot())::text as next',
  );
  await eventually(async () => (await readEventHorizon(sync.db)).xid >= BigInt(row!.next), longestSeconds);
}
async function read(after: EventPosition, limit?: number) {
  await settled();
  return readAtOnce(after, limit);
}
async function now(): Promise<EventPosition> {
  await settled();
  return readEventHorizon(sync.db);
}
const kinds = async (after: EventPosition) =>
  (await read(after)).rows.map(({ kind, status, work }) => [kind, status ?? work].filter(Boolean).join(' '));
const never = () => false;

test('each change of an association is an event, in the transaction that makes it', async () => {
  const begin = await now();
  await at.write('a', { k: 'v' });
  await at.set('a');
  await sync.work();
  await at.set('a');
  await sync.work('fail');
  await at.remove('a');
  await sync.work();
  const all = await sync.db.query<{ seen: string }>(
    `select concat_ws(' ', kind, status, outcome, fault, error) as seen from sync.events
      where (xid, id) > ($1::xid8, 0) order by xid, id`,
    [String(begin.xid)],
  );
  expect(all.map(({ seen }) => seen)).toEqual([
    'association_set',
    'entry PENDING',
    'entry SYNCED succeeded',
    'entry PENDING',
    'entry CLIENT_SIDE_ERROR failed forbidden no permission',
    'association_removing',
    'entry PENDING',
    'entry UNSYNCED succeeded',
    'association_removed',
  ]);
});

test('a change that is rolled back is no event', async () => {
  const begin = await now();
  const undone = sync.db.transaction(async (tx) => {
    await tx.query('update sync.config set disabled = true');
    throw new Error('rolled back');
  });
  await expect(undone).rejects.toThrow('rolled back');
  expect(await kinds(begin)).toEqual([]);
});

test('no event appears before one that was read, although transactions commit in another order', async () => {
  const begin = await now();
  const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
  const { promise: hasWritten, resolve: written } = Promise.withResolvers<void>();
  const first = sync.db.transaction(async (tx) => {
    await tx.query(`insert into sync.events (kind) values ('sync_disabled')`);
    written();
    await mayEnd;
  });
  await hasWritten;
  await sync.db.query(`insert into sync.events (kind) values ('sync_enabled')`);
  const { rows, horizon } = await readAtOnce(begin);
  expect(rows.filter(({ kind }) => kind === 'sync_enabled')).toEqual([]);
  end();
  await first;
  const { rows: rest } = await read({ ...begin, xid: horizon });
  expect(rest.map(({ kind }) => kind).filter((kind) => kind.startsWith('sync_'))).toEqual([
    'sync_disabled',
    'sync_enabled',
  ]);
});

test('syncing that is held is an event, a second reason is none, and its confirmation is one', async () => {
  const begin = await now();
  const set = (change: string) => sync.db.query(`update sync.installation set ${change}`);
  await set(`other_name = 'copy'`);
  await set(`held_because = 'database'`);
  await set('other_name = null');
  await set('held_because = null');
  expect(await kinds(begin)).toEqual(['sync_held', 'sync_released']);
});

test('the pause of a lane concerns the namespaces that have destinations in it', async () => {
  const begin = await now();
  const ofLane = 'id = (select lane_id from sync.destinations where name = $1)';
  await sync.db.query(
    `update sync.lanes set failures = 1, reason = 'throttled', paused_until = now() + interval '1 minute' where ${ofLane}`,
    [at.name],
  );
  await sync.db.query(`update sync.lanes set failures = 0, paused_until = null where ${ofLane}`, [at.name]);
  const { rows } = await read(begin);
  expect(rows.map(({ kind, fault, namespacesOfLane }) => ({ kind, fault, namespacesOfLane }))).toEqual([
    { kind: 'lane_paused', fault: 'throttled', namespacesOfLane: ['root'] },
    { kind: 'lane_reopened', fault: null, namespacesOfLane: ['root'] },
  ]);
});

test('the life of a destination, work on all of it, pauses and held removals are events', async () => {
  const begin = await now();
  const set = (table: string, change: string) =>
    sync.db.query(
      `update ${table} set ${change} where destination_id = (select id from sync.destinations where name = $1)`,
      [at.name],
    );
  const mark = (change: string) =>
    sync.db.query(`update sync.destinations set ${change} where name = $1`, [at.name]);
  await mark('purge_initiated_at = now()');
  await mark('purge_initiated_at = null');
  await sync.db.query(
    `insert into sync.destination_health (destination_id, destination_type) select id, type from sync.destinations where name = $1
     on conflict do nothing`,
    [at.name],
  );
  await set('sync.destination_health', `failures = 1, paused_until = now() + interval '1 minute'`);
  await set('sync.destination_health', 'failures = 0, paused_until = null');
  await sync.db.query(
    'insert into sync.removal_brakes (destination_id) select id from sync.destinations where name = $1',
    [at.name],
  );
  await set('sync.removal_brakes', 'held_at = now()');
  await set('sync.removal_brakes', 'held_at = null');
  await mark('revision = revision + 1');
  await mark('deleted_at = now(), namespace_id = null');
  expect(await kinds(begin)).toEqual([
    'work_started purge',
    'work_finished purge',
    'destination_paused',
    'destination_reopened',
    'removals_held',
    'removals_released',
    'destination_updated',
    'destination_deleted',
  ]);
});

test('drift is an event each time that another kind of it is found', async () => {
  await at.write('a', { k: 'v' });
  await at.set('a');
  const begin = await now();
  for (const drift of ['none', 'changed', 'changed', 'missing', 'none', 'changed'])
    await sync.db.query('update sync.entries set drift = $1', [drift]);
  const { rows } = await read(begin);
  const found = rows.map(({ kind, drift, secretName }) => ({ kind, drift, secretName }));
  expect(found).toEqual(
    ['changed', 'missing', 'changed'].map((drift) => ({ kind: 'drift_found', drift, secretName: 'a' })),
  );
});

test('throughput counts each attempt once, also repeated failures', async () => {
  await at.write('a', { k: 'v' });
  await at.set('a');
  await sync.work();
  for (const _ of [1, 2]) {
    await at.set('a');
    await sync.work('fail');
  }
  const totals = async () => {
    await countEvents(sync.db, never);
    const { data } = (await sync.call('GET', '/sys/sync/throughput')).body;
    const { succeeded = [], failed = [] } = data.types['cloudA-sm'] ?? {};
    return [succeeded, failed].map((counts: number[]) => counts.reduce((sum, count) => sum + count, 0));
  };
  await eventually(async () => (await totals())[1] === 2, longestSeconds);
  expect(await totals()).toEqual([1, 2]);
  const other = testCaller({ namespace: { id: 'admin', path: 'admin' } });
  const { data } = (await sync.call('GET', '/sys/sync/throughput', undefined, other)).body;
  expect(data.types).toEqual({});
});

test('old events are deleted once they are counted, and who has not read them is asked to read again', async () => {
  const begin = await now();
  await sync.db.query(`insert into sync.events (kind) select 'sync_enabled' from generate_series(1, 30)`);
  const left = async () => {
    await countEvents(sync.db, never, { seconds: 3_600, events: 10 });
    return (await sync.db.query('select from sync.events')).length;
  };
  await eventually(async () => (await left()) === 10, longestSeconds);
  expect((await read(begin)).isLost).toBe(true);
  expect((await read(await now())).isLost).toBe(false);
});

test('an event has the same position whenever and wherever it is read', async () => {
  const begin = await now();
  await at.write('a', { k: 'v' });
  await at.set('a');
  await sync.db.query(`update sync.events set at = at - interval '5 seconds' where xid >= $1::xid8`, [
    String(begin.xid),
  ]);
  const [event] = (await read(begin)).rows;
  const read5SecondsAgo = (((await now()).second - 5 + 999_999 - 1) % 999_999) + 1;
  expect([event!.second, event!.second + 1, event!.second + 2]).toContain(read5SecondsAgo);
  const position = { xid: BigInt(event!.xid), id: BigInt(event!.id), second: event!.second };
  expect((await read(position)).isLost).toBe(false);
});

test('a position of another database is not one of this', async () => {
  const position = await now();
  expect((await read({ ...position, xid: position.xid + 1_000_000n })).isLost).toBe(true);
});

test('a position whose numbers are used again, after commits were lost, is not one of this database', async () => {
  const { xid, id } = await now();
  const at = async (place: bigint, seconds: number) => {
    await sync.db.query('delete from sync.events where xid = $1::xid8', [String(place)]);
    await sync.db.query(
      `insert into sync.events (xid, kind, at) values ($1::xid8, 'sync_enabled', now() + $2 * interval '1 second')`,
      [String(place), seconds],
    );
  };
  const isLost = async () => (await read({ xid, id, second: (await now()).second })).isLost;
  await at(xid - 1n, -5);
  expect(await isLost()).toBe(false);
  await at(xid - 1n, 5);
  expect(await isLost()).toBe(true);
  expect((await read({ xid, id, second: 0 })).isLost).toBe(false);
  await sync.db.query('delete from sync.events where xid = $1::xid8', [String(xid - 1n)]);
});

test('a restored copy of another server begins again', async () => {
  const { xid } = await now();
  await sync.db.query('update sync.event_progress set counted_xid = $1::xid8, swept_xid = $1::xid8', [
    String(xid + 1_000_000n),
  ]);
  await sync.db.query(`insert into sync.events (xid, kind) values ($1::xid8, 'sync_enabled')`, [
    String(xid + 999_999n),
  ]);
  await countEvents(sync.db, never);
  const isLost = async () => (await read(await now())).isLost;
  await eventually(async () => !(await isLost()), longestSeconds);
  expect(
    (await sync.db.query('select from sync.events where xid > $1::xid8', [String(xid + 999_998n)])).length,
  ).toBe(0);
});

test('policies apply to events by either name of a destination type, and when they change', async () => {
  const write = (path: string) =>
    sync.db.query(
      `insert into login.policies (namespace_id, name, source, rules) values ('root', 'events', '', $1::jsonb)
       on conflict (namespace_id, name) do update set rules = excluded.rules`,
      [JSON.stringify({ paths: [{ path, capabilities: ['read'] }] })],
    );
  const begin = await now();
  await sync.db.query('update sync.destinations set revision = revision + 1 where name = $1', [at.name]);
  const { rows } = await read(begin);
  const audience = new Audience(testCaller({ policies: ['events'] }));
  const seen = async (epoch: string) => {
    await audience.follow({ db: sync.db, rows: rowGuard(undefined) }, epoch);
    return (await framesOf(audience, rows)).length;
  };
  await write(`sys/sync/destinations/aws-sm/${at.name}`);
  expect(await seen('1 a')).toBe(1);
  await write('sys/sync/destinations/cloudA-sm/other');
  expect([await seen('1 a'), await seen('1 b')]).toEqual([1, 0]);
});
