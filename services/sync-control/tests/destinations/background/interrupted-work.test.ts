import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Db } from '@secrets/db';
import { testCaller } from '@secrets/http/testing';
import { openTestDb } from '@secrets/schemas/testing';
import { parseKeyRing } from '@secrets/seal';
import { silentLogger } from '@secrets/telemetry';
import { isLongRun } from '../../../../../tests/harness/run-size.ts';
import type { FollowContext } from '../../../src/changes/on-secret-change.ts';
import type { SecretsClient } from '../../../src/changes/secrets-client.ts';
import type { Context, Queue } from '../../../src/context.ts';
import { advanceDestinations } from '../../../src/destinations/background/advance-destinations.ts';
import { advanceReplan } from '../../../src/destinations/background/replan.ts';
import { startReplan } from '../../../src/destinations/background/start-replan.ts';
import { advanceReconnects } from '../../../src/destinations/codehost-apps/reconnect-users.ts';
import { saveCodehostApp } from '../../../src/destinations/codehost-apps/save-codehost-app.ts';
import { removeDestination } from '../../../src/destinations/remove-destination.ts';
import { saveDestination } from '../../../src/destinations/save-destination.ts';
import { insertMany } from '../../insert-many.ts';

const type = 'cloudA-sm';
/** More than three pages of any work but a purge, after what the request writes. */
const many = 3_000;
const keyRing = parseKeyRing(randomBytes(32).toString('base64'), 'test');
let db: Db;
let name: string;
let id: string;

beforeAll(async () => {
  db = await openTestDb();
});
afterAll(() => db?.close());
beforeEach(async () => {
  await db.query('truncate sync.destinations cascade'); // in no time, unlike a deletion of thousands of entries
  name = `d-${randomUUID()}`;
  await write({});
});

const write = (body: object) =>
  saveDestination(
    { db, keyRing, prefix: 'secrets' },
    testCaller(),
    { type, name },
    {
      body: { ...body },
      isPatch: false,
    },
  );
const remove = (options: { purge: boolean; force: boolean }) => {
  const queue = { room: { whyFull: async () => undefined } };
  return removeDestination({ db, queue } as unknown as Context, testCaller(), { type, name }, options);
};
const fill = async (status: string, count = many) => {
  id = await insertMany(db, { destination: name, count, status });
};
/** Every secret exists, at the revision that it was planned from. */
const secrets = {
  revisions: async (_requestId: string, ids: readonly string[]) =>
    ids.map((secret_id) => ({ secret_id, exists: true, revision: 1 })),
} as unknown as SecretsClient;
const following = (through: Db): FollowContext => ({
  context: {
    db: through,
    secrets,
    prefix: 'secrets',
    queue: { notify: () => undefined },
  } as unknown as Context,
  log: silentLogger(),
  brake: { limits: { minEntries: 50, share: 0.2 }, log: silentLogger() },
});
const advance = (through: Db = db) =>
  advanceDestinations(
    {
      db: through,
      log: silentLogger(),
      replan: (destinationId) => advanceReplan(following(through), destinationId),
    },
    () => false,
  );

const reconnecting = (through: Db) => ({
  db: through,
  log: silentLogger(),
  queue: { notify: () => undefined },
});

/** Creates a code-host application. `write` writes it again. */
async function newApp() {
  const caller = testCaller();
  const name = `app-${randomUUID()}`;
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = String(privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const context = { db, keyRing, queue: { notify: () => undefined } as unknown as Queue };
  const write = () => saveCodehostApp(context, caller, name, { appId: 1, privateKey: pem });
  await write();
  const [row] = await db.query<{ id: string }>('select id from sync.codehost_apps where name = $1', [name]);
  return { id: row!.id, write };
}

/** A database that is lost in the middle of the nth transaction. */
function dyingIn(n: number): Db {
  let transactions = 0;
  const lost = () => {
    if (transactions >= n) throw new Error('killed');
  };
  return {
    ...db,
    query: async (text, params) => {
      lost();
      return db.query(text, params);
    },
    transaction: async (work, options) => {
      lost();
      transactions += 1;
      return db.transaction(async (tx) => {
        const result = await work(tx);
        lost();
        return result;
      }, options);
    },
  };
}

const generations = () =>
  db.query<{ generation: number; count: number }>(
    'select generation, count(*)::int as count from sync.entries where destination_id = $1 group by 1 order by 1',
    [id],
  );
/** Returns the number of entries that were written by the last transaction that wrote the destination. */
const writtenWithDestination = async () => {
  const [row] = await db.query<{ count: number }>(
    `select count(*)::int as count from sync.entries
      where xmin = (select xmin from sync.destinations where id = $1)`,
    [id],
  );
  return row!.count;
};
const count = async (table: string) =>
  (
    await db.query(
      `select id from sync.${table} where ${table === 'destinations' ? 'id' : 'destination_id'} = $1`,
      [id],
    )
  ).length;

describe('a request that concerns a large destination writes at most one page, and its work survives a crash', () => {
  test('an update retries each failed entry once', async () => {
    await fill('CLIENT_SIDE_ERROR');
    await write({ access_key_id: 'A', secret_access_key: 's' });
    expect(await writtenWithDestination()).toBeLessThanOrEqual(500);
    await advance(dyingIn(3)).catch(() => undefined);
    expect((await generations()).length).toBe(2);
    await advance();
    expect(await generations()).toEqual([{ generation: 2, count: many }]);
  });

  test('changed tags push each entry once', async () => {
    await fill('SYNCED');
    await write({ custom_tags: { a: '1' } });
    expect(await writtenWithDestination()).toBe(0);
    await advance(dyingIn(3)).catch(() => undefined);
    expect(await generations()).toEqual([
      { generation: 1, count: many - 2_000 },
      { generation: 2, count: 2_000 },
    ]);
    await advance();
    expect(await generations()).toEqual([{ generation: 2, count: many }]);
  });

  test('a replan plans each association once; another process continues when the lease of the page has ended', async () => {
    await fill('SYNCED', 500);
    await write({ secret_name_template: 'new/{{ .SecretPath }}' });
    const replaced = async () =>
      (await db.query(`select id from sync.entries where desired = 'absent'`)).length;
    await startReplan({ db } as Context, testCaller(), { type, name });
    expect([await writtenWithDestination(), await replaced()]).toEqual([0, 0]);
    await advance(dyingIn(250)).catch(() => undefined);
    const before = await replaced();
    expect(before).toBeGreaterThan(200);
    await advance();
    expect(await replaced()).toBe(before);
    await db.query(`update sync.destinations set replan_leased_until = now() - interval '1 second'`);
    await advance();
    expect(await generations()).toEqual([
      { generation: 1, count: 500 }, // the new ones
      { generation: 2, count: 500 },
    ]);
    const ended = 'select replan_refused as refused from sync.destinations where replan_initiated_at is null';
    expect(await db.query(ended)).toEqual([{ refused: 0 }]);
  });

  test('a purge removes each association once', async () => {
    await fill('SYNCED');
    await remove({ purge: true, force: false });
    expect(await writtenWithDestination()).toBe(0);
    await advance(dyingIn(3)).catch(() => undefined);
    expect(await generations()).toEqual([
      { generation: 1, count: many - 400 },
      { generation: 2, count: 400 },
    ]);
    await advance();
    expect(await generations()).toEqual([{ generation: 2, count: many }]);
  });

  test('a write of an application reconnects each destination that uses it once', async () => {
    const app = await newApp();
    await db.query(
      `insert into sync.destinations (namespace_id, namespace_path, type, name, settings, codehost_app_id)
       select 'root', '', 'codehost', 'user' || n, '{}', $1 from generate_series(1, 100) as n`,
      [app.id],
    );
    await db.query(
      `insert into sync.destination_health (destination_id, destination_type, failures, paused_until, reason)
       select id, type, 3, now() + interval '1 hour', 'unauthenticated' from sync.destinations where codehost_app_id = $1`,
      [app.id],
    );
    await app.write();
    const [inRequest] = await db.query<{ count: number }>(
      `select count(*)::int as count from sync.destinations
        where xmin = (select xmin from sync.codehost_apps where id = $1)`,
      [app.id],
    );
    expect(inRequest!.count).toBe(20);
    const revisions = () =>
      db.query(
        `select revision > 1 as "isChanged", retry_initiated_at is not null as "isRetried", count(*)::int as count
           from sync.destinations where codehost_app_id = $1 group by 1, 2 order by 1`,
        [app.id],
      );
    await advanceReconnects(reconnecting(dyingIn(3)), () => false).catch(() => undefined);
    expect(await revisions()).toEqual([
      { isChanged: false, isRetried: false, count: 40 },
      { isChanged: true, isRetried: true, count: 60 },
    ]);
    await Promise.all([1, 2, 3].map(() => advanceReconnects(reconnecting(db), () => false)));
    expect(await revisions()).toEqual([{ isChanged: true, isRetried: true, count: 100 }]);
    expect(await db.query('select from sync.destination_health where paused_until > now()')).toEqual([]);
    await advanceReconnects(reconnecting(db), () => false);
    expect(await revisions()).toEqual([{ isChanged: true, isRetried: true, count: 100 }]);
  });

  test('a forced deletion deletes everything', async () => {
    await fill('SYNCED');
    await remove({ purge: false, force: true });
    expect(await count('entries')).toBe(many - 500);
    await advance(dyingIn(3)).catch(() => undefined);
    expect(await count('entries')).toBeGreaterThan(0);
    await advance();
    expect([await count('entries'), await count('associations'), await count('destinations')]).toEqual([
      0, 0, 0,
    ]);
  });
});

test('several processes push each entry once', async () => {
  await fill('SYNCED');
  await write({ custom_tags: { a: '1' } });
  await Promise.all([advance(), advance(), advance()]);
  expect(await generations()).toEqual([{ generation: 2, count: many }]);
});

test('work waits while many entries of the destination are due, so that it does not fill up the queue', async () => {
  await fill('SYNCED', 10_500);
  await write({ custom_tags: { a: '1' } });
  await advance();
  expect((await generations())[0]?.count).toBe(5_500);
  await db.query(`update sync.entries set due_at = null, status = 'SYNCED' where destination_id = $1`, [id]);
  await advance();
  expect((await generations())[0]?.count).toBe(500);
});

test('a purge withdraws what is due to be pushed, however much that is', async () => {
  await fill('SYNCED', 5_500);
  await db.query(
    `update sync.entries set due_at = now(), generation = 2, status = 'PENDING' where destination_id = $1`,
    [id],
  );
  await remove({ purge: true, force: false });
  await advance();
  expect(
    await db.query(
      'select desired, count(*) as count from sync.entries where destination_id = $1 group by 1',
      [id],
    ),
  ).toEqual([{ desired: 'absent', count: 5_500 }]);
});

test('a purge withdraws what is retried behind a long queue of removals', async () => {
  await fill('SYNCED', 5_500);
  await db.query(
    `update sync.associations set removing = true
      where destination_id = $1 and secret_name in (select 'many' || n from generate_series(1, 5_100) as n)`,
    [id],
  );
  await db.query(
    `update sync.entries e
        set due_at = now(), generation = 2, status = 'PENDING', priority = case when removing then 0 else 1 end,
            desired = case when removing then 'absent' else 'present' end
       from sync.associations a where a.id = association_id and e.destination_id = $1`,
    [id],
  );
  await remove({ purge: true, force: false });
  await advance();
  expect(
    await db.query('select count(*) as count from sync.associations where destination_id = $1 and removing', [
      id,
    ]),
  ).toEqual([{ count: 5_500 }]);
});

describe('a page that fails', () => {
  const destination = async () =>
    (
      await db.query<{ error: string | null; xid: string }>(
        'select background_error as error, xmin::text as xid from sync.destinations where id = $1',
        [id],
      )
    )[0]!;

  beforeEach(async () => {
    await fill('SYNCED', 600);
    await db.query(`create or replace function public.refuse() returns trigger language plpgsql as
      $$ begin raise exception 'cannot' using errcode = 'P0001'; end $$`);
    await db.query(
      `create trigger refuse before update on sync.entries for each row when ((new.external_name = 'many7' or new.external_name like 'refused%') and new.generation > 1) execute function public.refuse()`,
    );
  });
  afterEach(() => db.query('drop trigger if exists refuse on sync.entries'));

  test('of a purge does not hold up the other associations, and its error is shown until it succeeds', async () => {
    await remove({ purge: true, force: false });
    for (let run = 1; run <= 4; run += 1) await advance(); // a page of 200 each
    expect(await generations()).toEqual([
      { generation: 1, count: 1 },
      { generation: 2, count: 599 },
    ]);
    expect((await destination()).error).toMatch(/unexpected failure \(P0001\)/);
    const { xid } = await destination();
    await advance();
    expect((await destination()).xid).toBe(xid); // the same error is not written again
    await db.query('drop trigger refuse on sync.entries');
    await advance();
    expect((await destination()).error).toBeNull();
    expect(await generations()).toEqual([{ generation: 2, count: 600 }]);
  });

  test.each(isLongRun ? [200, 250] : [200])(
    'of a purge does not hold up the others if %d at its front fail',
    async (failing) => {
      await db.query(
        `update sync.entries set external_name = case when place <= $2 then 'refused' else 'ok' end || place
         from (select id, row_number() over (order by id) as place from sync.associations where destination_id = $1) as a
        where association_id = a.id`,
        [id, failing],
      );
      await remove({ purge: true, force: false });
      for (let run = 1; run <= 4; run += 1) await advance();
      expect(await generations()).toEqual([
        { generation: 1, count: failing },
        { generation: 2, count: 600 - failing },
      ]);
      expect((await destination()).error).toMatch(
        /^many\/many\d+ and \d+ other associations could not be removed: .*P0001/,
      );
      await db.query('drop trigger refuse on sync.entries');
      for (let run = 1; run <= 2; run += 1) await advance();
      expect(await generations()).toEqual([{ generation: 2, count: 600 }]);
      expect((await destination()).error).toBeNull();
    },
  );

  test('of a purge does not keep the reason of an earlier failure from being shown', async () => {
    await remove({ purge: true, force: false });
    await db.query(
      `update sync.entries set desired = 'absent', status = 'CLIENT_SIDE_ERROR', last_error = 'no permission' where external_name = 'many8'`,
    );
    await db.query(`update sync.associations set removing = true where secret_name = 'many8'`);
    for (let run = 1; run <= 4; run += 1) await advance();
    expect(await db.query('select purge_error as error from sync.destinations where id = $1', [id])).toEqual([
      { error: 'no permission' },
    ]);
  });

  test('does not hold up other work on the destination', async () => {
    await db.query(`update sync.entries set status = 'CLIENT_SIDE_ERROR' where external_name = 'many7'`);
    await db.query(
      'update sync.destinations set retry_initiated_at = clock_timestamp(), push_initiated_at = now()',
    );
    await advance();
    expect(await generations()).toEqual([
      { generation: 1, count: 1 },
      { generation: 2, count: 599 },
    ]);
    expect((await destination()).error).toMatch(/P0001/);
  });
});
