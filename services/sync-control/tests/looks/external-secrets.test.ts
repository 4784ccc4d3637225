import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { StoreAnswer } from '@secrets/domain';
import { answerStoreRead, claimStoreRead, type StoreRead } from '@secrets/sync-entries';
import { deleteOldStoreReads } from '../../src/queries/destinations/store-reads.ts';
import { eventually, type Fixture, useSyncControl } from '../sync-control-for-test.ts';

const sync = useSyncControl();
let at: Fixture;

beforeEach(async () => {
  await sync.reset({ hasWorker: true });
  at = await sync.fixture();
});

const read = (query = '') => sync.call('GET', `${at.path}/external-secrets${query}`);
const requested = () => sync.db.query<{ id: string }>('select id from sync.store_reads where answer is null');

/** Answers a request as a worker does. Returns what it was asked, and the response. */
async function answered(answer: StoreAnswer, query = '') {
  const response = read(query);
  await eventually(async () => (await requested()).length > 0);
  const [{ id } = { id: '' }] = await requested();
  const claimed = (await claimStoreRead(sync.db, id)) as StoreRead;
  expect(await claimStoreRead(sync.db, id)).toBeUndefined();
  await answerStoreRead(sync.db, id, answer);
  return { question: claimed.question, ...(await response) };
}

const listed = { isReadable: true, createdAt: '2026-01-02T03:04:05.000Z', changedAt: null };
const nothing = { secrets: [], next: null };

/** Sets the calls that are left in the budget of the account, which is not refilled. */
const setTokens = (count: number) =>
  sync.db.query("update sync.lanes set tokens = $1, refilled_at = now() + interval '1 hour'", [count]);

const tokens = async (): Promise<number> => {
  const [row] = await sync.db.query<{ tokens: number }>(
    'select tokens from sync.lanes where id = (select lane_id from sync.destinations where name = $1)',
    [at.name],
  );
  return row!.tokens;
};

describe('GET sys/sync/destinations/:type/:name/external-secrets', () => {
  test('shows whose each external secret is, and the association that it belongs to', async () => {
    await at.write('s', { v: 1 });
    await at.set('s');
    const { external_name: name = '' } = (await at.lines())[`${at.accessor}/s`] ?? {};
    const secrets = [
      { name, belongs: 'own' as const, ...listed },
      { name: 'theirs', belongs: 'other' as const, ...listed },
      { name: 'free', belongs: 'none' as const, ...listed },
      { name: 'managed', belongs: 'provider' as const, ...listed, isReadable: false },
    ];
    const { status, body } = await answered({ secrets, next: null });
    const shown = { readable: true, created_at: listed.createdAt, changed_at: null, association: null };
    expect([status, body.warnings ?? null, body.data]).toEqual([
      200,
      null,
      {
        store_name: at.name,
        store_type: 'cloudA-sm',
        external_secrets: [
          {
            ...shown,
            name,
            owner: 'this_destination',
            association: { mount: at.mount, secret_name: 's', sub_key: '' },
          },
          { ...shown, name: 'theirs', owner: 'another_destination' },
          { ...shown, name: 'free', owner: 'none' },
          { ...shown, name: 'managed', owner: 'provider', readable: false },
        ],
      },
    ]);
  });

  test('shows what the destination has written as its own where the store shows no owner', async () => {
    await at.write('s', { v: 1 });
    await at.set('s');
    await sync.work();
    const { external_name: name = '' } = (await at.lines())[`${at.accessor}/s`] ?? {};
    const found = { secrets: [{ name, belongs: 'none' as const, ...listed }], next: null };
    const ownerOf = ({ body }: Awaited<ReturnType<typeof answered>>) => body.data.external_secrets[0].owner;
    expect(ownerOf(await answered(found))).toBe('none'); // nothing is remembered of it
    await sync.db.query(`update sync.entries set remote = '{}' where external_name = $1`, [name]);
    expect(ownerOf(await answered(found))).toBe('this_destination');
  });

  test('continues where the page before has ended, which only the service can say', async () => {
    const next = { page: 'https://store.example/?token=t', name: 'b' };
    const first = await answered({ secrets: [], next }, '?limit=7');
    expect(first.question).toEqual({ after: { page: null, name: '' }, limit: 7 });
    expect(first.body.warnings).toEqual([expect.stringContaining('ask again')]);
    const cursor: string = first.body.data.next;
    expect(Buffer.from(cursor, 'base64url').toString('latin1')).not.toContain('store.example');
    expect((await answered(nothing, `?after=${cursor}`)).question).toEqual({ after: next, limit: 1_000 });
    const altered = `${cursor.slice(0, -2)}${cursor.endsWith('AA') ? 'BB' : 'AA'}`;
    expect((await read(`?after=${altered}`)).status).toBe(400);
    at = await sync.fixture();
    expect((await read(`?after=${cursor}`)).status).toBe(400);
  });

  test.each(['?limit=1001', '?after=%2F', '?after=abc'])(
    'refuses %s with 400, without a call',
    async (query) => {
      expect((await read(query)).status).toBe(400);
      expect(await requested()).toEqual([]);
    },
  );

  test.each([
    ['forbidden', 409],
    ['unauthenticated', 409],
    ['rejected', 409],
    [null, 502],
    ['unavailable', 503],
    ['throttled', 429],
  ] as const)('says why a list has failed (%s: %d)', async (fault, status) => {
    const failure = { fault, message: 'no luck', ...(fault === 'throttled' && { retryAfterSeconds: 7 }) };
    const failed = await answered({ failure });
    expect([failed.status, failed.body.errors]).toEqual([
      status,
      [`the store could not be read (${fault ?? 'internal error'}): no luck`],
    ]);
    if (fault === 'throttled') expect(failed.headers.get('retry-after')).toBe('7');
    expect(await sync.db.query('select from sync.store_reads')).toEqual([]);
  });

  test('takes a call from the budget of the account, and leaves half of it to other work', async () => {
    await setTokens(26);
    await answered(nothing);
    expect(await tokens()).toBe(25);
    await setTokens(25);
    const { status } = await read();
    expect([status, await tokens()]).toEqual([429, 25]);
  });

  test('gives the call back if syncing is disabled before a worker begins it, and none begins it later', async () => {
    await setTokens(40);
    const response = read();
    await eventually(async () => (await requested()).length > 0);
    await sync.call('PATCH', '/sys/sync/config', { disabled: true });
    expect((await response).status).toBe(409);
    expect(await sync.db.query('select from sync.store_reads')).toEqual([]);
    expect(await tokens()).toBe(40);
  });

  test('returns 404 if the destination is deleted meanwhile', async () => {
    const response = read();
    await eventually(async () => (await requested()).length > 0);
    await sync.db.query('delete from sync.destinations');
    expect((await response).status).toBe(404);
  });

  test('returns 404 if the destination is deleted while the request is recorded', async () => {
    const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and query like 'insert into sync.store_reads%'`;
    const [deleted, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const deletion = sync.db.transaction(async (tx) => {
      await tx.query('delete from sync.destinations');
      deleted.resolve();
      await mayEnd.promise;
    });
    await deleted.promise;
    const response = read();
    await eventually(async () => (await sync.db.query(waiting)).length > 0);
    mayEnd.resolve();
    await deletion;
    expect((await response).status).toBe(404);
  });

  test('returns 409 while syncing is disabled, and 503 without a worker', async () => {
    await sync.db.query('update sync.config set disabled = true');
    expect((await read()).status).toBe(409);
    await sync.db.query('update sync.config set disabled = false');
    await sync.db.query('delete from sync.workers');
    expect((await read()).status).toBe(503);
  });

  test('returns 404 without a destination', async () => {
    const path = `/sys/sync/destinations/cloudA-sm/d-${randomUUID()}/external-secrets`;
    const { status, body } = await sync.call('GET', path);
    expect([status, body.errors]).toEqual([404, []]);
  });
});

test('what was left by requests whose process died is deleted after ten minutes', async () => {
  const insert = (minutes: number) =>
    sync.db.query(
      `insert into sync.store_reads (destination_id, destination_type, question, requested_at, ends_at)
       select id, type, '{}', now() - $2 * interval '1 minute', now() from sync.destinations where name = $1`,
      [at.name, minutes],
    );
  await insert(9);
  await insert(11);
  await deleteOldStoreReads(sync.db, 100);
  expect(await sync.db.query('select from sync.store_reads')).toHaveLength(1);
});
