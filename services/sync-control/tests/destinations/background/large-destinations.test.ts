import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Db } from '@secrets/db';
import { testCaller } from '@secrets/http/testing';
import { openTestDb } from '@secrets/schemas/testing';
import { readEntryContexts } from '@secrets/sync-entries';
import { silentLogger } from '@secrets/telemetry';
import { advanceDestinations } from '../../../src/destinations/background/advance-destinations.ts';
import { insertMany } from '../../insert-many.ts';
import { eventually, type Fixture, useSyncControl } from '../../sync-control-for-test.ts';

const sync = useSyncControl();
let at: Fixture;
const many = 1_200; // more than two pages
/** So many that the background work, which may begin at any time, is not done with them between two statements. */
const large = 4_500;
const replan = async () => false;

beforeEach(async () => {
  await sync.reset();
  at = await sync.fixture();
});

const read = () => sync.call('GET', at.path);
const failedEntries = async (id: string) =>
  (
    await sync.db.query(
      `select id from sync.entries where destination_id = $1 and status = 'CLIENT_SIDE_ERROR'`,
      [id],
    )
  ).length;
/** The first page is done, and perhaps more, but not all. */
function expectPages(remaining: number): void {
  expect(remaining).toBeGreaterThan(0);
  expect(remaining).toBeLessThanOrEqual(large - 500);
}
const countRows = async (id: string) =>
  (await sync.db.query('select id from sync.entries where destination_id = $1', [id])).length;

describe('an update of a large destination', () => {
  test('is answered after the first page, shows what remains to be retried, and retries it in the background', async () => {
    const id = await insertMany(sync.db, { destination: at.name, count: large, status: 'CLIENT_SIDE_ERROR' });
    const { status, body } = await sync.call('PATCH', at.path, {});
    expect([status, body.data]).toEqual([
      200,
      expect.objectContaining({
        retry_initiated_at: expect.any(String),
        retry_remaining: expect.any(Number),
      }),
    ]);
    expectPages(body.data.retry_remaining);
    await eventually(async () => (await read()).body.data.retry_initiated_at === undefined);
    expect(await failedEntries(id)).toBe(0);
  });

  test('leaves alone what fails after it', async () => {
    const id = await insertMany(sync.db, { destination: at.name, count: many, status: 'CLIENT_SIDE_ERROR' });
    await sync.call('PATCH', at.path, {});
    await sync.db.query(
      `update sync.entries set status = 'CLIENT_SIDE_ERROR', updated_at = clock_timestamp()
        where destination_id = $1 and status = 'PENDING'`,
      [id],
    );
    await eventually(async () => (await read()).body.data.retry_initiated_at === undefined);
    expect(await failedEntries(id)).toBeGreaterThanOrEqual(500);
  });
});

describe('POST sys/sync/destinations/:type/:name/retry', () => {
  const retry = () => sync.call('POST', `${at.path}/retry`);

  test.each(['CLIENT_SIDE_ERROR', 'EXTERNAL_SERVICE_ERROR', 'INTERNAL_SERVICE_ERROR'])(
    'resends what has failed with %s: the first page at once, the rest in the background',
    async (status) => {
      const id = await insertMany(sync.db, { destination: at.name, count: large, status });
      const { status: code, body } = await retry();
      expect([code, body.data]).toEqual([
        200,
        expect.objectContaining({ name: at.name, retry_remaining: expect.any(Number) }),
      ]);
      expectPages(body.data.retry_remaining);
      await eventually(async () => (await read()).body.data.retry_initiated_at === undefined);
      expect(
        await sync.db.query(
          `select status, count(*)::int from sync.entries where destination_id = $1 group by status`,
          [id],
        ),
      ).toEqual([{ status: 'PENDING', count: large }]);
    },
  );

  test('is not narrowed by an update of the destination meanwhile, which resends nothing that is retried by itself', async () => {
    const id = await insertMany(sync.db, {
      destination: at.name,
      count: 10,
      status: 'INTERNAL_SERVICE_ERROR',
    });
    const failed = async () =>
      (
        await sync.db.query(`select from sync.entries where destination_id = $1 and status <> 'PENDING'`, [
          id,
        ])
      ).length;
    await sync.call('PATCH', at.path, {});
    expect(await failed()).toBe(10);
    await sync.db.query(
      'update sync.destinations set retry_all = true, retry_initiated_at = now() where id = $1',
      [id],
    );
    await sync.call('PATCH', at.path, {});
    expect(await failed()).toBe(0);
  });

  test('ends the pause of the destination', async () => {
    await sync.db.query(
      `insert into sync.destination_health (destination_id, destination_type, failures, paused_until, reason)
       select id, type, 3, now() + interval '1 hour', 'unauthenticated' from sync.destinations where name = $1`,
      [at.name],
    );
    await sync.db.query(`update sync.lanes set served_at = '-infinity'`);
    await retry();
    expect(await sync.db.query('select from sync.destination_health where paused_until > now()')).toEqual([]);
  });

  test('returns 404 for a destination that does not exist', async () => {
    await sync.call('DELETE', at.path);
    expect((await retry()).status).toBe(404);
  });
});

describe('force_delete of a large destination', () => {
  const forceDelete = () => sync.call('DELETE', `${at.path}?force_delete=true`);

  test('frees its name at once, is listed nowhere, and deletes the rest in the background', async () => {
    const id = await insertMany(sync.db, { destination: at.name, count: many, status: 'SYNCED' });
    expect((await forceDelete()).status).toBe(204);
    expect((await read()).status).toBe(404);
    expect((await sync.call('LIST', '/sys/sync/destinations')).status).toBe(404);
    expect((await sync.call('LIST', '/sys/sync/associations')).status).toBe(404);
    expect((await sync.call('GET', '/sys/sync/associations/many/many1200')).status).toBe(404);
    expect((await sync.call('POST', at.path, {})).status).toBe(200);
    expect(await at.lines()).toEqual({});
    await eventually(async () => (await countRows(id)) === 0);
    await eventually(
      async () => (await sync.db.query('select id from sync.destinations where id = $1', [id])).length === 0,
    );
    expect((await read()).status).toBe(200);
  });

  test('gives workers nothing to do for the remaining entries', async () => {
    const id = await insertMany(sync.db, { destination: at.name, count: many, status: 'SYNCED' });
    await forceDelete();
    const entries = await sync.db.query<{ id: string }>(
      'select id from sync.entries where destination_id = $1',
      [id],
    );
    expect((await readEntryContexts(sync.db, [entries.at(-1)?.id ?? randomUUID()])).size).toBe(0);
  });

  test('does not keep the namespace from being deleted', async () => {
    const namespace = `n-${randomUUID()}`;
    await sync.db.query('insert into login.namespaces (id, path) values ($1, $1)', [namespace]);
    const caller = testCaller({ namespace: { id: namespace, path: namespace } });
    at = await sync.fixture({}, caller);
    await insertMany(sync.db, { destination: at.name, count: many, status: 'SYNCED' });
    expect((await sync.call('DELETE', `${at.path}?force_delete=true`, undefined, caller)).status).toBe(204);
    await sync.secrets('DELETE', `/sys/mounts/${at.mount}`, undefined, caller);
    await sync.db.query('delete from login.namespaces where id = $1', [namespace]);
  });
});

describe('background work on destinations', () => {
  let db: Db;
  const destination = async (type: string, marks: string): Promise<string> => {
    const name = `d-${randomUUID()}`;
    await db.query(
      `insert into sync.destinations (namespace_id, namespace_path, type, name, settings) values ('root', '', $1, $2, '{}')`,
      [type, name],
    );
    const id = await insertMany(db, { destination: name, count: 3, status: 'SYNCED' });
    await db.query(`update sync.destinations set ${marks} where id = $1`, [id]);
    return id;
  };
  /** Advances all work; after the list of destinations was read, runs `inBetween`. */
  const advance = async (inBetween: () => Promise<unknown> = async () => undefined) => {
    let isListed = false;
    const observed: Db = {
      ...db,
      query: async <Row>(text: string, params?: readonly unknown[]) => {
        const rows = await db.query<Row>(text, params);
        if (!isListed) await inBetween();
        isListed = true;
        return rows;
      },
    };
    await advanceDestinations({ db: observed, log: silentLogger(), replan }, () => false);
  };
  const removing = async (id: string) =>
    (await db.query('select id from sync.associations where destination_id = $1 and removing', [id])).length;
  const inPurge = 'purge_initiated_at = now()';
  const endPurge = (id: string) => () =>
    db.query('update sync.destinations set purge_initiated_at = null where id = $1', [id]);

  beforeAll(async () => {
    db = await openTestDb();
  });
  afterAll(() => db?.close());

  test('removes nothing for a purge that a set has ended in the meantime', async () => {
    const id = await destination('cloudA-sm', inPurge);
    await advance(endPurge(id));
    expect(await removing(id)).toBe(0);
  });

  test('does not delete an empty destination whose purge has ended in the meantime', async () => {
    const id = await destination('cloudA-sm', inPurge);
    await db.query('delete from sync.associations where destination_id = $1', [id]);
    await advance(endPurge(id));
    expect(await db.query('select id from sync.destinations where id = $1', [id])).toHaveLength(1);
    await db.query('update sync.destinations set purge_initiated_at = now() where id = $1', [id]);
    await advance();
    expect(await db.query('select id from sync.destinations where id = $1', [id])).toEqual([]);
  });

  test('stops after a page, continues later, and may run in several processes', async () => {
    const purged = await destination('cloudA-sm', inPurge);
    const deleted = await destination('cloudA-sm', 'deleted_at = now(), namespace_id = null');
    const retried = await destination('cloudA-sm', `retry_initiated_at = now() + interval '1 minute'`);
    await db.query(`update sync.entries set status = 'CLIENT_SIDE_ERROR' where destination_id = $1`, [
      retried,
    ]);
    let pages = 0;
    await advanceDestinations({ db, log: silentLogger(), replan }, () => ++pages > 2);
    await Promise.all([advance(), advance(), advance()]);
    expect(await removing(purged)).toBe(3);
    expect(await db.query('select id from sync.destinations where id = $1', [deleted])).toEqual([]);
    const marked = await db.query(
      `select id from sync.entries where destination_id = $1 and status = 'CLIENT_SIDE_ERROR'`,
      [retried],
    );
    expect(marked).toEqual([]);
  });

  test('fails for one destination without holding up the others', async () => {
    const stuck = await destination('cloudA-sm', inPurge);
    const other = await destination('cloudA-sm', inPurge);
    await db.query(
      `alter table sync.associations add constraint refused check (not (destination_id = '${stuck}' and removing)) not valid`,
    );
    await advance();
    await db.query('alter table sync.associations drop constraint refused');
    expect([await removing(stuck), await removing(other)]).toEqual([0, 3]);
    await advance();
    expect(await removing(stuck)).toBe(3);
  });

  test('purges and deletes destinations of a type that this version does not have', async () => {
    const purged = await destination('cloudX', inPurge);
    const deleted = await destination('cloudX', 'deleted_at = now(), namespace_id = null');
    await advance();
    expect(await removing(purged)).toBe(3);
    expect(await db.query('select id from sync.destinations where id = $1', [deleted])).toEqual([]);
  });
});
