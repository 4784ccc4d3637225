import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually, type SyncControlForTest, startSyncControlForTest } from './sync-control-for-test.ts';

let sync: SyncControlForTest;

beforeAll(async () => {
  sync = await startSyncControlForTest();
});
afterAll(() => sync?.stop());

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
