import { beforeEach, describe, expect, test } from '@jest/globals';
import { eventually, type Fixture, useSyncControl } from '../../sync-control-for-test.ts';

const sync = useSyncControl();
let at: Fixture;

beforeEach(async () => {
  await sync.reset();
  at = await sync.fixture();
});

const read = () => sync.call('GET', at.path);
const remove = (query = '', body?: object) => sync.call('DELETE', `${at.path}${query}`, body);
const isDeleted = async () => (await read()).status === 404;
const workUntilDeleted = () =>
  eventually(async () => {
    await sync.work();
    return isDeleted();
  });

async function synced(...names: string[]): Promise<void> {
  for (const name of names) {
    await at.write(name, { k: 'v' });
    await at.set(name);
  }
  await sync.work();
}

describe('DELETE sys/sync/destinations/:type/:name', () => {
  test('deletes a destination without associations; one that does not exist is a success', async () => {
    const { status, body } = await remove();
    expect([status, body]).toEqual([204, undefined]);
    expect(await isDeleted()).toBe(true);
    expect((await remove()).status).toBe(204);
    expect((await remove('?purge=true')).status).toBe(204);
  });

  test('refuses a destination with associations with 400, stating their number', async () => {
    await synced('a');
    const one = await remove();
    expect([one.status, one.body.errors]).toEqual([
      400,
      [
        'this destination still manages 1 association; remove them first, or delete with purge=true, or with keep=true to leave the external secrets',
      ],
    ]);
    await synced('b');
    expect((await remove()).body.errors[0]).toContain('2 associations');
  });

  test('force_delete deletes it with its associations at once, without any work for a worker', async () => {
    await synced('a');
    expect((await remove('?force_delete=true')).status).toBe(204);
    expect(await isDeleted()).toBe(true);
    expect(await sync.work()).toBe(0);
  });

  test('names an invalid flag with 400', async () => {
    const inQuery = await remove('?purge=maybe');
    expect([inQuery.status, inQuery.body.errors[0]]).toEqual([400, expect.stringMatching(/^purge: /)]);
    const inBody = await remove('', { force_delete: 'maybe' });
    expect([inBody.status, inBody.body.errors[0]]).toEqual([400, expect.stringMatching(/^force_delete: /)]);
  });

  test('accepts its flags in the body; the query has precedence', async () => {
    await synced('a');
    expect((await remove('?force_delete=false', { force_delete: true })).status).toBe(400);
    expect((await remove('', { force_delete: 'true' })).status).toBe(204);
    expect(await isDeleted()).toBe(true);
  });
});

describe('a purge', () => {
  test('unsyncs everything in the background, then deletes the destination', async () => {
    await synced('a', 'b');
    const { status, body } = await remove('?purge=true');
    expect([status, body]).toEqual([204, undefined]);
    expect((await read()).body.data).toMatchObject({
      purge_initiated_at: expect.stringMatching(/^\d{4}-/),
      purge_error: '',
    });
    await eventually(async () =>
      Object.values(await at.lines()).every(({ sync_status: one }) => one === 'PENDING'),
    );
    expect(await sync.work()).toBe(2);
    await eventually(isDeleted);
  });

  test.each([
    ['a set', () => at.set('a')],
    [
      'a plan',
      () => sync.call('POST', `${at.path}/associations/plan`, { mount: at.mount, secret_name: 'a' }),
    ],
    ['a write', () => sync.call('POST', at.path, {})],
    ['an update', () => sync.call('PATCH', at.path, {})],
    ['a replan', () => sync.call('POST', `${at.path}/replan`, {})],
    ['a retry', () => sync.call('POST', `${at.path}/retry`)],
    ['a check', () => sync.call('POST', `${at.path}/check`)],
    ['an inspection', () => sync.call('POST', `${at.path}/inspect`, {})],
  ])('refuses %s with 409 while it takes place', async (_, request) => {
    await synced('a');
    await remove('?purge=true');
    const since = (await read()).body.data.purge_initiated_at;
    const { status, body } = await request();
    expect([status, body.errors]).toEqual([
      409,
      [
        `this destination is being purged (since ${since}): nothing can be written to it or associated with it; ` +
          'once reading it returns 404, create it again; deleting it with purge=true once more retries what could not be removed',
      ],
    ]);
  });

  test('refuses to confirm another scope with 409 while it takes place', async () => {
    await synced('a');
    await remove('?purge=true');
    const { status, body } = await sync.call('POST', `${at.path}/confirm-scope`, {
      scope_id: '123456789012',
    });
    expect([status, body.errors]).toEqual([409, [expect.stringMatching(/^the destination is being purged/)]]);
  });

  test('leaves its name to a new destination', async () => {
    await synced('a');
    await remove('?purge=true');
    await workUntilDeleted();
    expect((await sync.call('POST', at.path, {})).status).toBe(200);
    expect((await at.set('a')).status).toBe(200);
  });

  test('refuses a write that has waited for the request of it', async () => {
    await synced('a');
    const write = await sync.db.transaction(async (tx) => {
      await tx.query('update sync.destinations set purge_initiated_at = now() where name = $1', [at.name]);
      const waiting = sync.call('POST', at.path, {});
      await eventually(async () => (await tx.query('select from pg_locks where not granted')).length > 0);
      return { waiting };
    });
    expect((await write.waiting).status).toBe(409);
  });

  describe('that failed', () => {
    const failure = async () => (await read()).body.data.purge_error;

    beforeEach(async () => {
      await synced('a');
      await remove('?purge=true');
      await eventually(async () => {
        await sync.work('fail');
        return (await failure()) !== '';
      });
    });

    test('shows the reason as purge_error, and keeps what could not be removed', async () => {
      expect(await failure()).toBe('no permission');
      expect(await at.lines()).toMatchObject({ [`${at.accessor}/a`]: { sync_status: 'CLIENT_SIDE_ERROR' } });
    });

    test('is retried by another purge', async () => {
      expect((await remove('?purge=true')).status).toBe(204);
      expect(await failure()).toBe('');
      expect(await sync.work()).toBe(1);
      await eventually(isDeleted);
    });

    test('is ended by the next write, which says so', async () => {
      const { status, body } = await sync.call('POST', at.path, {});
      expect([status, body.warnings]).toEqual([
        200,
        [expect.stringMatching(/has ended a purge that had failed/)],
      ]);
      expect((await read()).body.data).not.toHaveProperty('purge_initiated_at');
      expect(await sync.work()).toBe(1);
      expect(await sync.db.query('select from sync.associations')).toEqual([]);
      expect(await isDeleted()).toBe(false);
    });

    test('keeps external secrets if it was switched to that, also when a write has ended it', async () => {
      expect((await remove('?keep=true')).status).toBe(204);
      await eventually(async () => {
        await sync.work('fail');
        return (await failure()) !== '';
      });
      expect((await sync.call('POST', at.path, {})).status).toBe(200);
      expect(await sync.claim()).toMatchObject([{ desired: 'absent', isKept: true }]);
    });

    test('is ended by the next set', async () => {
      await at.write('b', { k: 'v' });
      expect((await at.set('b')).status).toBe(200);
      expect((await read()).body.data).not.toHaveProperty('purge_initiated_at');
      expect(await at.lines()).toMatchObject({ [`${at.accessor}/b`]: { sync_status: 'PENDING' } });
    });
  });
});
