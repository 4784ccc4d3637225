import { expect, test } from '@jest/globals';
import { eventually, useSyncControl } from '../sync-control-for-test.ts';

const sync = useSyncControl();

test('a key whose name another secret had is synced once that one is gone, and the reason goes with it', async () => {
  const at = await sync.fixture({ granularity: 'secret-key', secret_name_template: 'x/{{ .SecretKey }}' });
  const line = async () => (await at.lines())[`${at.accessor}/two/a`];
  await at.write('one', { a: '1' });
  await at.write('two', { b: '2' });
  await at.set('one');
  await at.set('two');
  await sync.work();
  await at.write('two', { a: '3', b: '2' });
  await eventually(async () => (await line())?.sync_status === 'CLIENT_SIDE_ERROR');
  expect(await line()).toMatchObject({
    last_error: expect.stringContaining(`is taken in this destination by ${at.mount}/one`),
  });
  await at.remove('one');
  await eventually(async () => {
    await sync.work();
    return (await line())?.sync_status === 'SYNCED';
  });
  expect(await line()).toMatchObject({ external_name: 'x/a', last_error: null });
  expect(await sync.db.query(`select awaited_names as names from sync.associations`)).toEqual([
    { names: [] },
  ]);
});
