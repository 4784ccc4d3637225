import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { CheckStep } from '@secrets/domain';
import { testCaller } from '@secrets/http/testing';
import {
  claimCheck,
  endCheck,
  endUnstartedCheck,
  type Probe,
  recordProbeRemoved,
} from '@secrets/sync-entries';
import { eventually, type Fixture, useSyncControl } from '../sync-control-for-test.ts';

const sync = useSyncControl();
let at: Fixture;

beforeEach(async () => {
  await sync.reset({ hasWorker: true });
  at = await sync.fixture();
});

const check = () => sync.call('POST', `${at.path}/check`);
const ok = (step: CheckStep['step']): CheckStep => ({ step, result: 'ok', fault: null, message: null });
const allOk = (['connect', 'create', 'change', 'remove'] as const).map(ok);
const running = () =>
  sync.db.query<{ id: string }>('select id from sync.destination_checks where ended_at is null');

/** Returns the number of calls left in the budget of the destination's account, which has 50. */
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
    const answer = check();
    await eventually(async () => (await running()).length > 0);
    const now = performance.now.bind(performance);
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => now() + 20_000);
    const { status, body } = await answer.finally(() => clock.mockRestore());
    expect([status, body.errors]).toEqual([
      503,
      [expect.stringMatching(/^no worker of type cloudA-sm has begun/)],
    ]);
    expect(await sync.db.query('select from sync.destination_checks')).toEqual([]);
    expect(await tokens()).toBeCloseTo(50, 0);
  });

  test('returns 409 while syncing is disabled, and no worker begins one that was requested before', async () => {
    // A request that waits would withdraw its check as soon as it notices.
    const [requested] = await sync.db.query<{ id: string }>(
      `insert into sync.destination_checks (destination_id, destination_type, external_name, ends_at)
       select id, type, 'n', now() + interval '1 hour' from sync.destinations where name = $1 returning id`,
      [at.name],
    );
    await sync.call('PATCH', '/sys/sync/config', { disabled: true });
    expect(await claimCheck(sync.db, requested!.id)).toBeUndefined();
    const { status, body } = await check();
    expect([status, body.errors]).toEqual([409, [expect.stringMatching(/^syncing is disabled/)]]);
    await sync.call('PATCH', '/sys/sync/config', { disabled: false });
    expect(await claimCheck(sync.db, requested!.id)).toBeDefined();
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
    expect(status).toBe(429);
    const seconds = Number(headers.get('retry-after'));
    expect(seconds).toBeGreaterThanOrEqual(20);
    expect(seconds).toBeLessThanOrEqual(30);
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
