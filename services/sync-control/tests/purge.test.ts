import { beforeEach, describe, expect, test } from '@jest/globals';
import { eventually, type Fixture, useSyncControl } from './sync-control-for-test.ts';

const sync = useSyncControl();
let at: Fixture;

beforeEach(async () => {
  await sync.reset();
  at = await sync.fixture();
});

const read = () => sync.call('GET', at.path);
const remove = (query = '', body?: object) => sync.call('DELETE', `${at.path}${query}`, body);
const isDeleted = async () => (await read()).status === 404;

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
      ['this destination still manages 1 association; remove them first, or delete with purge=true'],
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

  test('refuses new associations with 409 while it takes place', async () => {
    await synced('a');
    await remove('?purge=true');
    await at.write('b', { k: 'v' });
    const { status, body } = await at.set('b');
    expect([status, body.errors]).toEqual([
      409,
      ['this destination is being purged; nothing can be associated with it'],
    ]);
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

    test('is ended by the next set', async () => {
      await at.write('b', { k: 'v' });
      expect((await at.set('b')).status).toBe(200);
      expect((await read()).body.data).not.toHaveProperty('purge_initiated_at');
      expect(await at.lines()).toMatchObject({ [`${at.accessor}/b`]: { sync_status: 'PENDING' } });
    });
  });
});
