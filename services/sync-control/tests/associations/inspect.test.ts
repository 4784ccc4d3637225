import { beforeEach, describe, expect, test } from '@jest/globals';
import { findInspectable, recordFailedLook, recordLook } from '@secrets/sync-entries';
import { eventually, type Fixture, useSyncControl } from '../sync-control-for-test.ts';

const sync = useSyncControl();
let at: Fixture;

beforeEach(async () => {
  await sync.reset({ hasWorker: true });
  at = await sync.fixture();
  await at.write('s', { v: 1 });
});

const inspect = (secretName = 's') =>
  sync.call('POST', `${at.path}/inspect`, { mount: at.mount, secret_name: secretName });

async function setAndPush(): Promise<string> {
  await at.set('s');
  await sync.work();
  await eventually(async () => (await at.lines())[`${at.accessor}/s`]?.sync_status === 'SYNCED');
  const [row] = await sync.db.query<{ id: string }>(
    'select e.id from sync.entries e join sync.destinations d on d.id = e.destination_id where d.name = $1',
    [at.name],
  );
  return row!.id;
}

/** Records the outcome of a look as a worker does, as soon as it was requested. */
async function lookAs(
  id: string,
  record: (entry: NonNullable<Awaited<ReturnType<typeof findInspectable>>>) => Promise<unknown>,
) {
  const before = (await budget()).refilledAt;
  const answer = inspect();
  await eventually(async () => (await budget()).refilledAt !== before);
  await record((await findInspectable(sync.db, id))!);
  return answer;
}

/** Returns the calls left in the budget of the destination's account, which has 50, and when that was counted. */
async function budget(): Promise<{ tokens: number; refilledAt: string }> {
  const [row] = await sync.db.query<{ tokens: number; refilledAt: string }>(
    `select tokens, refilled_at::text as "refilledAt" from sync.lanes
      where id = (select lane_id from sync.destinations where name = $1)`,
    [at.name],
  );
  return row!;
}

describe('POST sys/sync/destinations/:type/:name/inspect', () => {
  test('shows what a worker has found, also to later reads', async () => {
    const id = await setAndPush();
    const { status, body } = await lookAs(id, (entry) =>
      recordLook(sync.db, entry, {
        drift: 'changed',
        evidence: 'value',
        status: 'CLIENT_SIDE_ERROR',
        error: 'changed by somebody else',
      }),
    );
    const line = body.data.associated_secrets[`${at.accessor}/s`];
    expect([status, line]).toEqual([
      200,
      expect.objectContaining({
        sync_status: 'CLIENT_SIDE_ERROR',
        last_error: 'changed by somebody else',
        drift: 'changed',
        evidence: 'value',
        verified_at: expect.any(String),
        drift_seen_at: expect.any(String),
      }),
    ]);
    expect((await at.lines())[`${at.accessor}/s`]).toEqual(line);
  });

  test('warns why a look has proved nothing', async () => {
    const id = await setAndPush();
    const { status, body } = await lookAs(id, (entry) =>
      recordFailedLook(sync.db, entry, 'permission denied'),
    );
    expect(status).toBe(200);
    expect(body.warnings).toEqual([expect.stringMatching(/was not verified: permission denied$/)]);
  });

  test('returns 404 for an unknown association, and 400 with a mount alone', async () => {
    expect((await inspect('other')).status).toBe(404);
    expect((await sync.call('POST', `${at.path}/inspect`, { mount: at.mount })).status).toBe(400);
  });

  test('warns, and asks no worker, before anything was synced', async () => {
    await at.set('s');
    const { status, body } = await inspect();
    expect([status, body.warnings]).toEqual([200, ['nothing can be looked at before it has been synced']]);
  });

  test('leaves half of the budget of the account to other work', async () => {
    await setAndPush();
    // An admission that was decided before is not recorded after another turn.
    await sync.db.query(
      `insert into sync.scheduler_turns as t (destination_type, turn) values ('cloudA-sm', 1)
       on conflict (destination_type) do update set turn = t.turn + 1`,
    );
    await sync.db.query("update sync.lanes set tokens = 25, refilled_at = now() + interval '1 hour'");
    const { status } = await inspect();
    expect([status, (await budget()).tokens]).toEqual([429, 25]);
  });

  test('returns 409 while syncing is disabled, and 503 without a worker', async () => {
    await setAndPush();
    await sync.db.query('update sync.config set disabled = true');
    expect((await inspect()).status).toBe(409);
    await sync.db.query('update sync.config set disabled = false');
    await sync.db.query('delete from sync.workers');
    expect((await inspect()).status).toBe(503);
  });
});
