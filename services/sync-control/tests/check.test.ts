import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { CheckStep } from '@secrets/domain';
import { testCaller } from '@secrets/http/testing';
import {
  claimCheck,
  endCheck,
  endUnstartedCheck,
  type Probe,
  recordProbeRemoved,
  recordWorker,
} from '@secrets/sync-entries';
import { silentLogger } from '@secrets/telemetry';
import { sweepChecks } from '../src/destinations/sweep-checks.ts';
import { eventually, type Fixture, useSyncControl } from './sync-control-for-test.ts';

const sync = useSyncControl();
let at: Fixture;

beforeEach(async () => {
  await sync.reset();
  at = await sync.fixture();
  await recordWorker(sync.db, { id: 'w', destinationType: 'cloudA-sm', slots: 4 });
});

const check = () => sync.call('POST', `${at.path}/check`);
const ok = (step: CheckStep['step']): CheckStep => ({ step, result: 'ok', fault: null, message: null });
const allOk = (['connect', 'create', 'change', 'remove'] as const).map(ok);
const running = () =>
  sync.db.query<{ id: string }>('select id from sync.destination_checks where ended_at is null');

/** What is left of the budget of the destination's account, which has 50 calls. */
async function tokens(): Promise<number> {
  const [row] = await sync.db.query<{ tokens: number }>(
    'select tokens from sync.lanes where id = (select lane_id from sync.destinations where name = $1)',
    [at.name],
  );
  return row!.tokens;
}

/** Begins the check that is requested, as a worker does. */
async function begin(): Promise<Probe> {
  await eventually(async () => (await running()).length > 0);
  const [{ id } = { id: '' }] = await running();
  return (await claimCheck(sync.db, id))!.probe;
}

async function finish({ checkId }: Probe, steps = allOk): Promise<void> {
  await recordProbeRemoved(sync.db, checkId);
  await endCheck(sync.db, checkId, steps);
}

describe('POST sys/sync/destinations/:type/:name/check', () => {
  test('returns the steps of the worker, which gets the name of the probe and the destination', async () => {
    const answer = check();
    const probe = await begin();
    expect(probe.externalName).toMatch(/^secrets-check-[0-9a-f]{12}$/);
    expect(probe.destination).toMatchObject({ type: 'cloudA-sm', name: at.name });
    const failed: CheckStep = { step: 'create', result: 'failed', fault: 'forbidden', message: 'no' };
    await finish(probe, [ok('connect'), failed]);
    const { status, body } = await answer;
    expect([status, body.data]).toEqual([200, { ok: false, steps: [ok('connect'), failed] }]);
  });

  test('ends the pause of the destination if every step succeeded', async () => {
    await sync.db.query(
      `insert into sync.destination_health (destination_id, destination_type, failures, paused_until, reason)
       select id, type, 3, now() + interval '1 hour', 'unauthenticated' from sync.destinations where name = $1`,
      [at.name],
    );
    await sync.db.query(`update sync.lanes set served_at = '-infinity'`);
    const answer = check();
    await finish(await begin());
    expect((await answer).body.data).toEqual({ ok: true, steps: allOk });
    expect(await sync.db.query('select from sync.destination_health where paused_until > now()')).toEqual([]);
  });

  test('runs once at a time per destination: another one returns 409', async () => {
    const answer = check();
    const probe = await begin();
    const { status, body } = await check();
    expect([status, body.errors]).toEqual([409, ['another check of this destination is running']]);
    await finish(probe);
    expect((await answer).status).toBe(200);
    const next = check();
    await finish(await begin());
    expect((await next).status).toBe(200);
  });

  test('is not held up by a check whose worker died', async () => {
    const abandoned = check();
    await begin();
    await sync.db.query(`update sync.destination_checks set ends_at = now()`);
    const next = check();
    await eventually(async () => (await sync.db.query('select from sync.destination_checks')).length === 2);
    await finish(await begin());
    expect((await next).status).toBe(200);
    await sync.db.query('delete from sync.destinations');
    expect((await abandoned).status).toBe(404);
  });

  test('returns 503 without a worker of the type', async () => {
    await sync.db.query('delete from sync.workers');
    const { status, body } = await check();
    expect([status, body.errors]).toEqual([503, ['no worker of type cloudA-sm is running']]);
    expect(await running()).toEqual([]);
  });

  test('returns 409 if syncing is disabled before a worker begins it, and none begins it later', async () => {
    const answer = check();
    await eventually(async () => (await running()).length > 0);
    await sync.call('PATCH', '/sys/sync/config', { disabled: true });
    const { status, body } = await answer;
    expect([status, body.errors]).toEqual([
      409,
      ['syncing is disabled, so nothing is sent to any destination'],
    ]);
    expect(await sync.db.query('select from sync.destination_checks')).toEqual([]);
  });

  test('returns 503 if no worker begins it, and none begins it later', async () => {
    const { status, body } = await check();
    expect([status, body.errors]).toEqual([
      503,
      [expect.stringMatching(/^no worker of type cloudA-sm has begun/)],
    ]);
    expect(await sync.db.query('select from sync.destination_checks')).toEqual([]);
    expect(await tokens()).toBeCloseTo(50, 0);
  }, 40_000);

  test('returns 409 while syncing is disabled, and no worker begins one that was requested before', async () => {
    const answer = check();
    await eventually(async () => (await running()).length > 0);
    await sync.call('PATCH', '/sys/sync/config', { disabled: true });
    const [{ id } = { id: '' }] = await running();
    expect(await claimCheck(sync.db, id)).toBeUndefined();
    const { status, body } = await check();
    expect([status, body.errors]).toEqual([409, [expect.stringMatching(/^syncing is disabled/)]]);
    await sync.call('PATCH', '/sys/sync/config', { disabled: false });
    await finish(await begin());
    expect((await answer).status).toBe(200);
  });

  test('returns 409 if syncing was disabled only when a worker received it', async () => {
    const answer = check();
    await eventually(async () => (await running()).length > 0);
    const [{ id } = { id: '' }] = await running();
    await endUnstartedCheck(sync.db, id); // as that worker does
    expect((await answer).status).toBe(409);
    expect(await tokens()).toBeCloseTo(50, 0);
  });

  test('returns 404 if the destination is deleted before a worker begins it', async () => {
    const answer = check();
    await eventually(async () => (await running()).length > 0);
    await sync.db.query(
      'update sync.destinations set deleted_at = now(), namespace_id = null where name = $1',
      [at.name],
    );
    expect((await answer).status).toBe(404);
  });

  test('returns 429 while the account is throttled', async () => {
    await sync.db.query(
      `update sync.lanes set reason = 'throttled', paused_until = now() + interval '30 seconds'
        where id = (select lane_id from sync.destinations where name = $1)`,
      [at.name],
    );
    const { status, headers } = await check();
    await sync.db.query('update sync.lanes set reason = null, paused_until = null');
    expect([status, Number(headers.get('retry-after'))]).toEqual([429, 30]);
  });

  test('uses up the budget of the account', async () => {
    const answer = check();
    const probe = await begin();
    expect(await tokens()).toBeCloseTo(50 - 3, 0);
    await finish(probe);
    await answer;
    expect(await tokens()).toBeCloseTo(50 - 3, 0);
  });

  test('gives back the budget if the worker could not connect, and has therefore made no call', async () => {
    const answer = check();
    const probe = await begin();
    const failed: CheckStep = { step: 'connect', result: 'failed', fault: 'rejected', message: 'no region' };
    await finish(probe, [failed]);
    expect((await answer).body.data.ok).toBe(false);
    expect(await tokens()).toBeCloseTo(50, 0);
  });

  test('needs `update`, and a destination', async () => {
    const caller = testCaller({ policies: ['ci'], grants: ['create', 'read', 'patch'] });
    expect((await sync.call('POST', `${at.path}/check`, undefined, caller)).status).toBe(403);
    const missing = await sync.call('POST', `/sys/sync/destinations/cloudA-sm/d-${randomUUID()}/check`);
    expect([missing.status, missing.body.errors]).toEqual([404, []]);
  });
});

describe('the sweep', () => {
  const published: [string, unknown][] = [];
  const broker = {
    publish: async (queue: string, messages: readonly unknown[]) =>
      void published.push(...messages.map((message): [string, unknown] => [queue, message])),
  };
  const sweep = async () => {
    published.length = 0;
    await sweepChecks({ db: sync.db, broker, log: silentLogger() });
    return published;
  };
  const insert = async (fields: Record<string, string>) => {
    const columns = { started_at: 'now()', ends_at: `now() - interval '1 minute'`, ...fields };
    const [row] = await sync.db.query<{ id: string; destination: string }>(
      `insert into sync.destination_checks (destination_id, destination_type, external_name, ${Object.keys(columns).join(', ')})
       select id, type, 'n', ${Object.values(columns).join(', ')} from sync.destinations where name = $1
       returning id, destination_id as destination`,
      [at.name],
    );
    return { check_id: row!.id, destination_id: row!.destination };
  };
  const ids = async () =>
    (await sync.db.query<{ id: string }>('select id from sync.destination_checks')).map(({ id }) => id);

  /** Returns how many minutes the next request is away, and makes it due. */
  const minutesToNext = async (): Promise<number> => {
    const [row] = await sync.db.query<{ minutes: number }>(
      `select extract(epoch from next_removal_at - now())::float8 / 60 as minutes from sync.destination_checks`,
    );
    await sync.db.query(`update sync.destination_checks set next_removal_at = now() - interval '1 second'`);
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
    await sync.db.query('delete from sync.workers');
    for (let request = 1; request <= 20; request += 1) {
      expect(await sweep()).toEqual([]);
      expect(await minutesToNext()).toBe(1);
    }
    await recordWorker(sync.db, { id: 'w', destinationType: 'cloudA-sm', slots: 4 });
    expect(await sweep()).toEqual([['sync.clouda-sm', left]]);
  });

  test('leaves alone a check that runs, and sends nothing while syncing is disabled', async () => {
    await insert({ ends_at: `now() + interval '10 seconds'` });
    expect(await sweep()).toEqual([]);
    await insert({ ended_at: 'now()' });
    await sync.call('PATCH', '/sys/sync/config', { disabled: true });
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
});
