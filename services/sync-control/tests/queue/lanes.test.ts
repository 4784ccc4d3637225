import { beforeEach, expect, test } from '@jest/globals';
import { testCaller } from '@secrets/http/testing';
import { type Fixture, useSyncControl } from '../sync-control-for-test.ts';

const sync = useSyncControl();
let at: Fixture;

beforeEach(async () => {
  await sync.reset();
  await sync.db.query('delete from sync.lanes');
  at = await sync.fixture();
});

const path = '/sys/sync/lanes';
const admin = testCaller({ namespace: { id: 'admin', path: 'admin' } });
const read = (query = '', caller = testCaller()) => sync.call('GET', `${path}${query}`, undefined, caller);
const lanes = async (caller = testCaller()) => (await read('', caller)).body.data.lanes;
const ofOtherAccount = { access_key_id: 'AKIAOTHER', secret_access_key: 'canary' };

test('a lane shows its window, its pause, its budget and the destinations that use it', async () => {
  const other = await sync.fixture();
  await sync.db.query(
    `update sync.lanes set failures = 1, reason = 'throttled', paused_until = now() + interval '1 minute'`,
  );
  const [first, second] = [at.name, other.name].sort();
  expect(await lanes()).toEqual([
    {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      type: 'cloudA-sm',
      destinations: [`cloudA-sm/${first}`, `cloudA-sm/${second}`],
      state: 'paused',
      reason: 'the provider throttles this account',
      paused_until: expect.stringMatching(/^\d{4}-/),
      throttled_until: expect.stringMatching(/^\d{4}-/),
      window: 0,
      budget: {
        per_second: 50,
        burst: expect.any(Number),
        max_outstanding: null,
        calls_left: expect.any(Number),
      },
    },
  ]);
});

test('a lane that namespaces share names only the own destinations, and nothing of the account', async () => {
  await sync.fixture(ofOtherAccount);
  const other = await sync.fixture(ofOtherAccount, admin);
  const [shared, ...others] = await lanes(admin);
  expect([shared.destinations, others]).toEqual([[`cloudA-sm/${other.name}`], []]);
  expect(await lanes()).toHaveLength(2);
  const [row] = await sync.db.query<{ account: string }>('select account from sync.lanes where id = $1', [
    shared.id,
  ]);
  expect(JSON.stringify((await read()).body)).not.toMatch(new RegExp(`AKIAOTHER|canary|${row!.account}`));
});

test('lanes are listed in pages', async () => {
  await sync.fixture(ofOtherAccount);
  const [first, second] = await lanes();
  const page = (await read('?limit=1')).body;
  expect([page.data.lanes, page.data.next]).toEqual([[expect.objectContaining({ id: first.id })], first.id]);
  expect(page.warnings).toEqual([expect.stringContaining(`after=${first.id}`)]);
  const { data } = (await read(`?limit=1&after=${first.id}`)).body;
  expect([data.lanes, data.next]).toEqual([[expect.objectContaining({ id: second.id })], undefined]);
  expect((await read('?after=x')).status).toBe(400);
});

test('a namespace without destinations has no lanes', async () => {
  expect(await lanes(admin)).toEqual([]);
});
