import { expect, test } from '@jest/globals';
import { eventually, useSyncControl } from '../sync-control-for-test.ts';

const sync = useSyncControl();

const keys = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'v']));

test('refuses to set a secret with more than 1,000 keys at secret-key granularity', async () => {
  const at = await sync.fixture({ granularity: 'secret-key' });
  await at.write('a', keys(1_001));
  const { status, body } = await at.set('a');
  const sentence = `secret_name: a in mount ${at.mount} has 1001 keys; at secret-key granularity, at most 1000 keys can be synced`;
  expect([status, body.errors]).toEqual([400, [sentence]]);
  expect(await at.lines()).toEqual({});
  const whole = await sync.fixture({ granularity: 'secret-path' });
  await whole.write('a', keys(1_001));
  expect((await whole.set('a')).status).toBe(200);
});

test('does not sync the keys beyond 1,000 that a change adds, and says why', async () => {
  const at = await sync.fixture({ granularity: 'secret-key' });
  await at.write('a', keys(999));
  expect((await at.set('a')).status).toBe(200);
  await at.write('a', keys(1_003));
  await eventually(async () => Object.keys(await at.lines()).length === 1_003);
  const lines = Object.values(await at.lines());
  const refused = lines.filter(({ external_name }) => external_name === '');
  expect(refused).toHaveLength(3);
  for (const line of refused)
    expect(line).toMatchObject({
      sync_status: 'CLIENT_SIDE_ERROR',
      last_error: 'the secret has too many keys: at secret-key granularity, at most 1000 are synced',
    });
});

test('an association has at most 3,000 external secrets, including those still to be removed', async () => {
  const at = await sync.fixture({ granularity: 'secret-key' });
  const renamed = (prefix: string) =>
    Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`${prefix}${index}`, 'v']));
  const count = async () => (await sync.db.query('select from sync.entries')).length;
  await sync.db.query('delete from sync.associations');
  await at.write('a', renamed('a'));
  await at.set('a');
  for (const [index, prefix] of ['b', 'c'].entries()) {
    await at.write('a', renamed(prefix)); // no worker removes the earlier ones
    await eventually(async () => (await count()) === (index + 2) * 1_000);
  }
  const { c0: _, ...others } = renamed('c');
  await at.write('a', { ...others, d: 'v' });
  const line = async () => (await at.lines())[`${at.accessor}/a/d`];
  await eventually(async () => (await line()) !== undefined);
  expect(await line()).toMatchObject({
    sync_status: 'CLIENT_SIDE_ERROR',
    external_name: '',
    last_error: expect.stringContaining('an association has at most 3000'),
  });
  await at.write('a', { d: 'v' });
  const { status, body } = await at.set('a');
  expect([status, body.errors]).toEqual([
    409,
    [
      'the association has 3000 external secrets, including those still to be removed, and needs 1 more; ' +
        'the maximum is 3000: set it again when the old ones are removed',
    ],
  ]);
  expect(await count()).toBe(3_000);
});
