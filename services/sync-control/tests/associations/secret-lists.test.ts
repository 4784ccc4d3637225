import { beforeEach, expect, test } from '@jest/globals';
import { writePolicy } from '@secrets/access/testing';
import type { Caller } from '@secrets/caller';
import { testCaller } from '@secrets/http/testing';
import { type Fixture, useSyncControl } from '../sync-control-for-test.ts';

const sync = useSyncControl();
let at: Fixture;

beforeEach(async () => {
  await sync.reset();
  at = await sync.fixture();
});

const call = (operation: string, body: object, query = '?wait=0', caller?: Caller) =>
  sync.call('POST', `${at.path}/associations/${operation}${operation === 'plan' ? '' : query}`, body, caller);
const refs = (...names: string[]) => names.map((secret_name) => ({ mount: at.mount, secret_name }));
const result = (secret_name: string, more: object = {}) => ({
  mount: at.mount,
  secret_name,
  status: 200,
  errors: [],
  ...more,
});
const writeAll = (...names: string[]) => Promise.all(names.map((name) => at.write(name, { k: 'v' })));

test('sets each secret of a list, in its order, and refuses one without stopping the others', async () => {
  await writeAll('a', 'b');
  const { status, body } = await call('set', { secrets: refs('a', 'missing', 'b') });
  expect(status).toBe(200);
  expect(body.data).toEqual({
    store_type: 'cloudA-sm',
    store_name: at.name,
    results: [
      result('a', { sync_status: 'PENDING' }),
      result('missing', {
        status: 400,
        errors: [`secret_name: there is no secret missing in mount ${at.mount}`],
        sync_status: null,
      }),
      result('b', { sync_status: 'PENDING' }),
    ],
  });
  expect(body.warnings).toEqual(['1 of 3 secrets were refused; see their errors']);
  expect(
    Object.values(await at.lines())
      .map(({ secret_name }) => secret_name)
      .sort(),
  ).toEqual(['a', 'b']);
});

test('sets more secrets than one transaction has, of several mounts, in the order of the list', async () => {
  const other = await sync.fixture();
  const names = Array.from({ length: 110 }, (_, n) => `n${n}`);
  for (let start = 0; start < names.length; start += 22) await writeAll(...names.slice(start, start + 22));
  await other.write('x', { k: 'v' });
  await at.push('n3');
  const list = [
    ...refs(...names.slice(0, 50)),
    { mount: other.mount, secret_name: 'x' },
    ...refs(...names.slice(50)),
  ];
  const { body } = await call('set', { secrets: list });
  expect(body.data.results).toEqual(
    list.map((ref) => ({ ...ref, status: 200, errors: [], sync_status: 'PENDING' })),
  );
  const [written] = await sync.db.query<{ transactions: number }>(
    'select count(distinct xmin::text) as transactions from sync.associations where secret_name <> $1',
    ['n3'],
  );
  expect(written).toEqual({ transactions: 3 });
});

test('refuses the second of two secrets that would have one name', async () => {
  at = { ...(await sync.fixture({ secret_name_template: 'n-{{ .SecretBaseName }}' })), mount: at.mount };
  for (const name of ['a/db', 'b/db'])
    await sync.secrets('POST', `/${at.mount}/data/${name}`, { data: { v: 1 } });
  const { body } = await call('set', { secrets: refs('a/db', 'b/db') });
  expect(body.data.results).toEqual([
    result('a/db', { sync_status: 'PENDING' }),
    result('b/db', {
      status: 409,
      errors: [`the external name n-db is taken in this destination by ${at.mount}/a/db, as n-db`],
      sync_status: null,
    }),
  ]);
});

test('waits for the outcome of all', async () => {
  await writeAll('a', 'b');
  const { body } = await sync.workDuring(call('set', { secrets: refs('a', 'b') }, ''));
  expect(body.data.results).toEqual([
    result('a', { sync_status: 'SYNCED' }),
    result('b', { sync_status: 'SYNCED' }),
  ]);
});

test('removes each association, or keeps the external secrets; one that does not exist is unsynced', async () => {
  await at.push('a', 'b');
  const { body } = await sync.workDuring(call('remove', { secrets: refs('a', 'none', 'b'), keep: true }, ''));
  expect(body.data.results).toEqual([
    result('a', { sync_status: 'UNSYNCED' }),
    result('none', { sync_status: 'UNSYNCED' }),
    result('b', { sync_status: 'UNSYNCED' }),
  ]);
  expect(body.warnings).toBeNull();
  expect(await at.lines()).toEqual({});
});

test('plans each secret, and writes nothing', async () => {
  await writeAll('a');
  const { body } = await call('plan', { secrets: refs('a', 'missing') });
  expect(body.data.results).toMatchObject([
    result('a', { accepted: true, associated: false, external_secrets: [expect.anything()] }),
    result('missing', { status: 400, errors: [expect.stringContaining('there is no secret missing')] }),
  ]);
  expect(await at.lines()).toEqual({});
});

test('a secret that the caller may not read is refused alone', async () => {
  await writeAll('a', 'b');
  const caller = testCaller({ policies: ['limited'] });
  await writePolicy(sync.db, 'limited', {
    [`${at.mount}/data/a`]: ['read'],
    'sys/sync/destinations/*': ['update'],
  });
  const { body } = await call('set', { secrets: refs('a', 'b') }, '?wait=0', caller);
  expect(body.data.results.map(({ status }: { status: number }) => status)).toEqual([200, 403]);
});

test('each secret needs what a request for it alone would need, also for rules about parameters', async () => {
  await writeAll('a', 'b');
  const caller = testCaller({ policies: ['parameters'] });
  await writePolicy(sync.db, 'parameters', {
    [`${at.mount}/data/*`]: ['read'],
    'sys/sync/destinations/*': { capabilities: ['update'], denied_parameters: { secret_name: ['b'] } },
  });
  for (const operation of ['set', 'plan', 'remove']) {
    const { body } = await call(operation, { secrets: refs('a', 'b') }, '?wait=0', caller);
    expect(body.data.results.map(({ status }: { status: number }) => status)).toEqual([200, 403]);
  }
});

test.each([
  [{}, ['mount is required', 'secret_name is required']],
  [{ secrets: [] }, [expect.stringMatching(/^secrets: /)]],
  [{ secrets: [{ mount: 'm' }] }, ['secrets.0.secret_name is required']],
  [
    { mount: 'm', secrets: [{ mount: 'm', secret_name: 's' }] },
    ['secrets: cannot be combined with mount and secret_name'],
  ],
  [
    {
      secrets: [
        { mount: 'm', secret_name: 's' },
        { mount: '/m/', secret_name: 's' },
      ],
    },
    ['secrets.1: is the same secret as number 0'],
  ],
])('refuses %j', async (body, errors) => {
  for (const operation of ['set', 'plan', 'remove'])
    expect(await call(operation, body)).toMatchObject({ status: 400, body: { errors } });
});

test('a list has up to 1,000 secrets, a plan 100 without a look', async () => {
  const secrets = refs(...Array.from({ length: 1_001 }, (_, index) => `s${index}`));
  expect((await call('set', { secrets })).body.errors).toEqual([expect.stringMatching(/^secrets: /)]);
  const { body } = await call('set', { secrets: secrets.slice(1) });
  expect(body.data.results).toHaveLength(1_000);
  expect((await call('plan', { secrets: secrets.slice(0, 101) })).status).toBe(400);
  expect((await call('plan', { secrets: refs('a'), look: true })).body.errors).toEqual([
    'look: cannot be combined with secrets',
  ]);
});

test('a missing destination is a 404 of the request', async () => {
  const path = '/sys/sync/destinations/cloudA-sm/nowhere/associations/set';
  expect(await sync.call('POST', path, { secrets: refs('a') })).toMatchObject({
    status: 404,
    body: { errors: [] },
  });
});
