import { beforeEach, expect, test } from '@jest/globals';
import { openTestDb } from '@secrets/schemas/testing';
import { recordWorker } from '@secrets/sync-entries';
import { silentLogger } from '@secrets/telemetry';
import { useStarted } from '../../../../libs/testing/src/use-started.ts';
import { sweepChecks } from '../../src/destinations/calls/sweep-checks.ts';

// Without the service, whose own sweep would take what these tests insert.
const db = useStarted(openTestDb, ({ close }) => close());
beforeEach(async () => {
  await db.query('delete from sync.destinations');
  await db.query('update sync.config set disabled = default');
  await db.query(
    `insert into sync.destinations (namespace_id, namespace_path, type, name, settings)
     values ('root', '', 'cloudA-sm', 'd', '{}')`,
  );
  await recordWorker(db, { id: 'w', destinationType: 'cloudA-sm', slots: 4 });
});

const published: [string, unknown][] = [];
const broker = {
  publish: async (queue: string, messages: readonly unknown[]) =>
    void published.push(...messages.map((message): [string, unknown] => [queue, message])),
};
const sweep = async () => {
  published.length = 0;
  await sweepChecks({ db, broker, log: silentLogger() });
  return published;
};
const insert = async (fields: Record<string, string>) => {
  const columns = { started_at: 'now()', ends_at: `now() - interval '1 minute'`, ...fields };
  const [row] = await db.query<{ id: string; destination: string }>(
    `insert into sync.destination_checks (destination_id, destination_type, external_name, ${Object.keys(columns).join(', ')})
     select id, type, 'n', ${Object.values(columns).join(', ')} from sync.destinations
     returning id, destination_id as destination`,
  );
  return { check_id: row!.id, destination_id: row!.destination };
};
const ids = async () =>
  (await db.query<{ id: string }>('select id from sync.destination_checks')).map(({ id }) => id);

/** Returns how many minutes the next request is away, and makes it due. */
const minutesToNext = async (): Promise<number> => {
  const [row] = await db.query<{ minutes: number }>(
    `select extract(epoch from next_removal_at - now())::float8 / 60 as minutes from sync.destination_checks`,
  );
  await db.query(`update sync.destination_checks set next_removal_at = now() - interval '1 second'`);
  return Math.round(row!.minutes);
};

test('requests the removal of what was left behind, and of nothing else', async () => {
  const left = await insert({});
  await insert({ removed_at: 'now()', ended_at: 'now()' });
  await insert({ ended_at: 'now()', started_at: 'null' });
  await insert({ ended_at: 'now()', ends_at: `now() - interval '50 seconds'` }); // a write may still arrive
  expect(await sweep()).toEqual([['sync.clouda-sm', left]]);
  expect(await sweep()).toEqual([]);
});

test('requests a removal less and less often, 16 times in about a week, and then gives up', async () => {
  const left = await insert({});
  const minutes: number[] = [];
  for (let request = 1; request <= 16; request += 1) {
    expect(await sweep()).toEqual([['sync.clouda-sm', left]]);
    minutes.push(await minutesToNext());
  }
  expect(minutes.slice(0, 4)).toEqual([1, 2, 4, 8]);
  expect(minutes.at(-1)).toBe(24 * 60);
  expect(minutes.reduce((sum, each) => sum + each) / (24 * 60)).toBeCloseTo(6.4, 1);
  expect(await sweep()).toEqual([]);
  expect(await ids()).toEqual([]);
});

test('still requests a removal after it was down for a long time', async () => {
  const left = await insert({ requested_at: `now() - interval '30 days'`, ended_at: 'now()' });
  expect(await sweep()).toEqual([['sync.clouda-sm', left]]);
});

test('neither requests nor counts a removal while no worker of the type is running', async () => {
  const left = await insert({});
  await db.query('delete from sync.workers');
  for (let request = 1; request <= 20; request += 1) {
    expect(await sweep()).toEqual([]);
    expect(await minutesToNext()).toBe(1);
  }
  await recordWorker(db, { id: 'w', destinationType: 'cloudA-sm', slots: 4 });
  expect(await sweep()).toEqual([['sync.clouda-sm', left]]);
});

test('leaves alone a check that runs, and sends nothing while syncing is disabled', async () => {
  await insert({ ends_at: `now() + interval '10 seconds'` });
  expect(await sweep()).toEqual([]);
  await insert({ ended_at: 'now()' });
  await db.query('update sync.config set disabled = true');
  expect(await sweep()).toEqual([]);
});

test('deletes checks after an hour, except those whose probe may still exist', async () => {
  const hours = (count: number) => `now() - interval '${count} hours'`;
  await insert({ requested_at: hours(2), ended_at: hours(2), removed_at: hours(2) });
  const left = await insert({ requested_at: hours(2), ended_at: hours(2) });
  const recent = await insert({ ended_at: 'now()', removed_at: 'now()' });
  expect(await sweep()).toEqual([['sync.clouda-sm', left]]);
  expect((await ids()).sort()).toEqual([left.check_id, recent.check_id].sort());
});
