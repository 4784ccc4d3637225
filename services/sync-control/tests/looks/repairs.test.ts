import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Drift } from '@secrets/domain';
import { completeEntries, findInspectable, recordLook } from '@secrets/sync-entries';
import { listDestinationsToRepair, lockRepairs } from '../../src/queries/destinations/repairs.ts';
import { eventually, type Fixture, useSyncControl } from '../sync-control-for-test.ts';

const sync = useSyncControl();
let at: Fixture;

beforeEach(async () => {
  await sync.reset();
  at = await sync.fixture({ drift_policy: 'repair' });
});

interface EntryRow {
  id: string;
  generation: number;
  desired: string;
  verify: boolean;
  repairOf: string | null;
}

const entries = () =>
  sync.db.query<EntryRow>(
    `select e.id, e.generation, e.desired, e.verify, e.repair_of as "repairOf" from sync.entries e
       join sync.destinations d on d.id = e.destination_id where d.name = $1 order by e.collision_key`,
    [at.name],
  );

/** Records that a look has found this in the external secret of an entry. */
async function find(id: string, drift: Drift): Promise<void> {
  const entry = await findInspectable(sync.db, id);
  const evidence = drift === 'missing' ? null : 'mark';
  const found = { drift, evidence, status: 'CLIENT_SIDE_ERROR', error: `it is ${drift}` } as const;
  expect(await recordLook(sync.db, entry!, found)).toBe(true);
}

const findFirst = async (drift: Drift) => find((await entries())[0]!.id, drift);
const line = async () => Object.values(await at.lines())[0]!;
const untilPending = () => eventually(async () => (await line()).sync_status === 'PENDING');

/** Has what was found repaired. */
async function repair(): Promise<void> {
  await untilPending();
  const claimed = await sync.claim();
  const pushed = { pushedHash: 'hash', settingsHash: null, remote: { version: 2 } };
  const achieved = { status: 'SYNCED', ...pushed, isVerified: true } as const;
  await completeEntries(
    sync.db,
    claimed.map((held) => ({ held, achieved })),
  );
  expect(await line()).toMatchObject({ sync_status: 'SYNCED', drift: 'none' });
}

const history = async () =>
  (await sync.call('GET', `${at.path}/associations/history?mount=${at.mount}&secret_name=a`)).body.data
    .external_secrets[0].outcomes;

/** Waits until nothing is left to decide or to repair. */
const atRest = () =>
  eventually(
    async () =>
      (await sync.db.query('select from sync.repairs where is_wanted or is_repairing')).length === 0,
  );

test.each(['changed', 'missing'] as const)(
  'an external secret that is %s is compared and pushed again under its own generation',
  async (drift) => {
    await at.push('a');
    const [before] = await entries();
    await findFirst(drift);
    await untilPending();
    expect(await entries()).toEqual([{ ...before, verify: true, repairOf: drift }]);
    await repair();
    expect((await history()).map((outcome: { repair_of?: string }) => outcome.repair_of)).toEqual([
      drift,
      undefined,
    ]);
    const events = await sync.db.query(
      `select external_name, drift from sync.events where kind = 'drift_repaired'`,
    );
    expect(events).toEqual([{ external_name: (await line()).external_name, drift }]);
    await at.set('a');
    await sync.work();
    expect((await history())[0]).not.toHaveProperty('repair_of');
    await sync.db.query(`delete from sync.events where kind = 'drift_repaired'`);
  },
);

test('a foreign external secret is never repaired', async () => {
  await at.push('a');
  await findFirst('foreign');
  await atRest();
  expect(await line()).toMatchObject({ sync_status: 'CLIENT_SIDE_ERROR', drift: 'foreign' });
});

test('what was found under another policy is repaired once the policy is repair, and never before', async () => {
  at = await sync.fixture();
  await at.push('a');
  await findFirst('changed');
  await atRest();
  expect(await line()).toMatchObject({ sync_status: 'CLIENT_SIDE_ERROR', drift: 'changed' });
  await sync.call('PATCH', at.path, { drift_policy: 'repair' });
  await repair();
});

test('nothing is repaired whose removal was requested', async () => {
  await at.push('a', 'b');
  const [first, second] = await entries();
  await at.remove('a');
  expect(await findInspectable(sync.db, first!.id)).toBeUndefined();
  await sync.db.query(
    `update sync.entries set status = 'CLIENT_SIDE_ERROR', drift = 'changed', drift_seen_at = now() where id = $1`,
    [first!.id],
  );
  await find(second!.id, 'changed');
  await eventually(async () => (await entries())[1]!.repairOf === 'changed');
  expect(await entries()).toMatchObject([{ desired: 'absent', repairOf: null }, {}]);
});

test('nothing is repaired while syncing is disabled', async () => {
  await at.push('a');
  await sync.call('PATCH', '/sys/sync/config', { disabled: true });
  await sync.db.query(`update sync.entries set status = 'CLIENT_SIDE_ERROR', drift = 'changed'`);
  expect(await sync.db.query('select is_wanted from sync.repairs')).toEqual([{ is_wanted: true }]);
  expect(await listDestinationsToRepair(sync.db)).toEqual([]);
  await sync.call('PATCH', '/sys/sync/config', { disabled: false });
  await repair();
});

test('after a confirmation of the installation, nothing is repaired before everything was looked at', async () => {
  await at.push('a');
  await sync.db.query('update sync.installation set confirmed_at = now()');
  await findFirst('changed');
  const [repairs] = await sync.db.query<{ id: string }>('select destination_id as id from sync.repairs');
  expect(await sync.db.transaction((tx) => lockRepairs(tx, repairs!.id))).toBeUndefined();
  expect(await line()).toMatchObject({ sync_status: 'CLIENT_SIDE_ERROR', drift: 'changed' });
  await sync.db.query('update sync.inspections set inspected_at = now()');
  await repair();
  await sync.db.query('update sync.installation set confirmed_at = null');
});

test('a repair that fails is retried like every put, and is no other repair', async () => {
  await at.push('a');
  await findFirst('changed');
  await untilPending();
  await sync.work('fail');
  await atRest();
  expect(await line()).toMatchObject({ sync_status: 'CLIENT_SIDE_ERROR' });
  expect((await history())[0]).toMatchObject({ repair_of: 'changed' });
  await sync.call('POST', `${at.path}/retry`);
  await repair();
});

describe('an entry whose repair was undone twice within a day', () => {
  beforeEach(async () => {
    await at.push('a');
    for (const drift of ['changed', 'missing'] as const) {
      await findFirst(drift);
      await repair();
    }
  });

  test('is contested, and the error says how often and when', async () => {
    await findFirst('changed');
    await eventually(async () => (await line()).drift === 'contested');
    expect(await line()).toMatchObject({
      sync_status: 'CLIENT_SIDE_ERROR',
      last_error: expect.stringMatching(
        /undone 2 repairs within 24 hours, those of \d{4}-\S+Z and \d{4}-\S+Z/,
      ),
    });
  });

  test('is repaired if the first repair was more than a day ago', async () => {
    await sync.db.query(
      `update sync.entries set repaired_at[1] = repaired_at[1] - interval '25 hours' where repaired_at is not null`,
    );
    await findFirst('changed');
    await repair();
  });

  test.each([
    ['set', () => at.set('a')],
    ['new version', () => at.write('a', { v: 2 })],
    ['retry', () => sync.call('POST', `${at.path}/retry`)],
  ])('starts afresh with a %s', async (_, start) => {
    await findFirst('changed');
    await eventually(async () => (await line()).drift === 'contested');
    await start();
    await repair();
    await findFirst('changed');
    await repair();
  });
});
