import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Db } from '@secrets/db';
import type { CloudBContext } from '../../../src/auth-methods/cloudb/cloudb-context.ts';
import { rotateNow, runDueRotations } from '../../../src/auth-methods/cloudb/rotation/run-rotation.ts';
import { quickly, type RotationForTest, startRotationForTest } from './rotation-for-test.ts';

let cloud: RotationForTest;

beforeAll(async () => {
  cloud = await startRotationForTest();
});
beforeEach(() => cloud.beginAgain());
afterAll(() => cloud.stop());

/**
 * Simulates a process whose matching statements wait until the work is done, but at most for a while: it may have to
 * wait for them.
 */
function interrupted(statement: RegExp, work: () => Promise<unknown>): CloudBContext {
  const context = cloud.contextOf();
  let working: Promise<unknown> | undefined;
  const interrupting = <Sql extends Pick<Db, 'query'>>(sql: Sql): Sql => ({
    ...sql,
    query: async (...[text, params]: Parameters<Db['query']>) => {
      if (statement.test(text)) {
        working ??= work();
        await Promise.race([working, sleep(500)]);
      }
      return sql.query(text, params);
    },
  });
  const transaction: Db['transaction'] = (run) => context.db.transaction((tx) => run(interrupting(tx)));
  return { ...context, db: { ...interrupting(context.db), transaction } };
}

const schedule = async () =>
  (
    await cloud.service.db.query<{ scheduled: Date | null; due: Date | null }>(
      'select scheduled_at as scheduled, due_at as due from login.cloudb_rotations',
    )
  )[0];
const disabled = { disable_automated_rotation: true, client_secret: undefined };

test('a schedule that is written while a rotation ends is the one that counts', async () => {
  await cloud.configure({ rotation_period: '30d' });
  let written: Promise<void> | undefined;
  const context = interrupted(/leased_until = null, failures/, () => {
    written = cloud.configure(disabled);
    return written;
  });
  await rotateNow(context, cloud.mount, () => undefined, quickly);
  expect(written).toBeDefined();
  await written;
  expect(await schedule()).toEqual({ scheduled: null, due: null });
});

test('a rotation that is due does not take place if automated rotation is disabled', async () => {
  await cloud.configure({ ...disabled, rotation_period: '24h' });
  await cloud.service.db.query(
    "update login.cloudb_rotations set scheduled_at = now() - interval '1 second', due_at = now()",
  );
  await runDueRotations(cloud.contextOf(), () => false, quickly);
  expect(cloud.ownPasswords()).toEqual(['sandbox']);
  expect(await schedule()).toEqual({ scheduled: null, due: null });
});

const yearly = { rotation_schedule: '0 3 1 1 *', client_secret: undefined };
const added = expect.stringMatching(/^secrets-service rotation /);
const becomeDue = () =>
  cloud.service.db.query('update login.cloudb_rotations set scheduled_at = now(), due_at = now()');
const runDue = async (context = cloud.contextOf()) => {
  await cloud.letTimePass();
  await runDueRotations(context, () => false, quickly);
};

test('a rotation that becomes due while leftovers are removed takes place', async () => {
  await cloud.configure(yearly);
  await cloud.service.db.query(
    `with due as (update login.cloudb_rotations set due_at = now() returning mount_id)
     insert into login.cloudb_rotation_attempts (id, mount_id) select $1, mount_id from due`,
    [randomUUID()],
  );
  await runDue(interrupted(/started_at < now/, becomeDue));
  expect(cloud.ownPasswords()).toEqual(['sandbox']);
  await runDue();
  expect(cloud.ownPasswords()).toEqual([added]);
  expect((await schedule())!.scheduled!.getTime()).toBeGreaterThan(Date.now());
});

test('a write that does not concern the schedule skips no rotation that is due', async () => {
  await cloud.configure(yearly);
  await becomeDue();
  await cloud.configure({ max_retries: 1, client_secret: undefined });
  await runDue();
  expect(cloud.ownPasswords()).toEqual([added]);
});

test('another schedule, and another secret, skip a rotation that is due', async () => {
  for (const write of [{ ...yearly, rotation_schedule: '0 4 1 1 *' }, { rotation_schedule: '0 4 1 1 *' }]) {
    await cloud.configure(yearly);
    await becomeDue();
    await cloud.configure(write);
    await runDue();
    expect(cloud.ownPasswords()).toEqual(['sandbox']);
    expect((await schedule())!.scheduled!.getTime()).toBeGreaterThan(Date.now());
  }
});

test('a scheduled rotation of which the password is given up begins again', async () => {
  await cloud.configure({ ...yearly, rotation_window: '1d' });
  cloud.sandbox.directory.configure({ passwordDelayMs: 600_000 });
  await becomeDue();
  await runDue();
  expect(cloud.ownPasswords()).toEqual(['sandbox', added]);
  await cloud.service.db.query(
    "update login.cloudb_rotations set pending_since = now() - interval '2 hours'",
  );
  await runDue();
  cloud.sandbox.directory.configure({ passwordDelayMs: 0 });
  await runDue();
  expect(cloud.ownPasswords()).toEqual([added]);
  expect((await schedule())!.scheduled!.getTime()).toBeGreaterThan(Date.now());
});
