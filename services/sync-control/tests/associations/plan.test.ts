import { beforeEach, expect, test } from '@jest/globals';
import { writePolicy } from '@secrets/access/testing';
import { testCaller } from '@secrets/http/testing';
import { type Fixture, useSyncControl } from '../sync-control-for-test.ts';

const sync = useSyncControl();
let at: Fixture;

beforeEach(async () => {
  await sync.reset();
  at = await sync.fixture();
});

const planOf = (secretName: string, caller = testCaller(), on = at) =>
  sync.call('POST', `${on.path}/associations/plan`, { mount: on.mount, secret_name: secretName }, caller);
const secretsOf = async (secretName: string) => (await planOf(secretName)).body.data.external_secrets;
const change = (fields: object) => sync.call('PATCH', at.path, fields);
const planned = (more: object) => ({
  sub_key: '',
  change: 'new',
  replaces: null,
  value_bytes: expect.any(Number),
  problems: [],
  ...more,
});

test('shows a new external secret with its size, and writes nothing', async () => {
  await at.write('a', { k: 'vü' });
  const content = () =>
    sync.db.query(
      `select (select json_agg(d) from sync.destinations d) as destinations, (select json_agg(l) from sync.lanes l) as lanes,
              (select count(*) from sync.entries) as entries, (select count(*) from sync.associations) as associations,
              (select json_agg(s order by s.id) from secrets.secrets s) as secrets`,
    );
  const before = await content();
  const { status, body } = await planOf('a');
  expect(status).toBe(200);
  expect(body.data).toEqual({
    store_type: 'cloudA-sm',
    store_name: at.name,
    accessor: at.accessor,
    mount: at.mount,
    secret_name: 'a',
    associated: false,
    accepted: true,
    problems: [],
    max_external_secrets: 3_000,
    max_value_bytes: 65_536,
    external_secrets: [
      planned({ external_name: `secrets/${at.accessor}/a`, value_bytes: '{"k":"vü"}'.length + 1 }),
    ],
  });
  expect(await content()).toEqual(before);
});

test('shows each key at secret-key granularity, with the size of its value', async () => {
  await change({ granularity: 'secret-key' });
  await at.write('a', { text: 'ü', number: 12, object: { x: 1 } });
  const name = (key: string) => `secrets/${at.accessor}/a/${key}`;
  expect(await secretsOf('a')).toEqual([
    planned({ sub_key: 'text', external_name: name('text'), value_bytes: 2 }),
    planned({ sub_key: 'number', external_name: name('number'), value_bytes: 2 }),
    planned({ sub_key: 'object', external_name: name('object'), value_bytes: 7 }),
  ]);
});

test('shows the size of the value that value_key selects, or that the secret does not have the key', async () => {
  await change({ value_key: 'text' });
  await at.write('a', { text: 'ü', number: 12 });
  await at.write('b', { number: 12 });
  expect(await secretsOf('a')).toMatchObject([{ value_bytes: 2 }]);
  const { data } = (await planOf('b')).body;
  expect([data.accepted, data.problems]).toEqual([
    false,
    [expect.stringMatching(/^secret_name: b in mount .* has no key text, which is the value_key/)],
  ]);
});

test('shows what is kept, renamed and removed of an existing association', async () => {
  await change({ granularity: 'secret-key', secret_name_template: 'x/{{ .SecretKey }}' });
  await at.write('a', { user: '1', gone: '2' });
  await at.set('a');
  await sync.work();
  const changes = async () =>
    (await secretsOf('a')).map((secret: Record<string, unknown>) => [
      secret.sub_key,
      secret.external_name,
      secret.change,
      secret.replaces,
    ]);
  expect((await planOf('a')).body.data.associated).toBe(true);
  expect(await changes()).toEqual([
    ['user', 'x/user', 'kept', null],
    ['gone', 'x/gone', 'kept', null],
  ]);
  await change({ secret_name_template: 'y/{{ .SecretKey }}' });
  await sync.db.query('update secrets.secrets set watched = false'); // the change is not followed
  await at.write('a', { user: '1', fresh: '2' });
  expect(await changes()).toEqual([
    ['user', 'y/user', 'renamed', 'x/user'],
    ['fresh', 'y/fresh', 'new', null],
    ['gone', 'x/gone', 'removed', null],
  ]);
  await change({ granularity: 'secret-path', secret_name_template: null });
  expect(await changes()).toEqual([
    ['', `secrets/${at.accessor}/a`, 'new', null],
    ['gone', 'x/gone', 'removed', null],
    ['user', 'x/user', 'removed', null],
  ]);
});

test('names every problem of each key: names, collisions between keys and with another secret, sizes', async () => {
  await change({ granularity: 'secret-key', secret_name_template: 'x/{{ .SecretKey | lowercase }}' });
  await at.write('other', { taken: '1' });
  await at.set('other');
  await at.write('a', { taken: '1', 'not good': '2', B: '3', b: '4', large: 'x'.repeat(70_000), empty: '' });
  const { data } = (await planOf('a')).body;
  expect(data.accepted).toBe(false);
  const problems = Object.fromEntries(
    data.external_secrets.map((secret: { sub_key: string; problems: string[] }) => [
      secret.sub_key,
      secret.problems,
    ]),
  );
  expect(problems).toEqual({
    taken: [expect.stringContaining(`is taken in this destination by ${at.mount}/other (key taken)`)],
    'not good': [expect.stringMatching(/^the external name "x\/not good" cannot be used: /)],
    B: [],
    b: ['keys B and b would both be named x/b'],
    large: ['the value has 70000 bytes; cloudA-sm accepts at most 65536'],
    empty: ['the value is empty, which cloudA-sm does not accept'],
  });
  expect((await at.set('a')).status).toBeGreaterThanOrEqual(400);
});

test('names the limits of keys and of external secrets', async () => {
  await change({ granularity: 'secret-key' });
  await at.write('a', Object.fromEntries(Array.from({ length: 1_001 }, (_, n) => [`k${n}`, 'v'])));
  const { data } = (await planOf('a')).body;
  expect([data.accepted, data.problems]).toEqual([
    false,
    [expect.stringMatching(/has 1001 keys; .* at most 1000 /)],
  ]);
  expect(data.external_secrets).toHaveLength(1_000);
});

test('shows no value', async () => {
  await at.write('a', { k: 'canary-value' });
  expect(JSON.stringify((await planOf('a')).body)).not.toContain('canary');
});

test('needs what a set needs: the destination, permission to read the secret, and a readable secret', async () => {
  await at.write('a', { k: 'v' });
  const name = `p-${at.name}`;
  await writePolicy(sync.db, name, { [`${at.mount}/data/b`]: ['read'] });
  const reader = testCaller({ policies: [name] });
  const forbidden = await planOf('a', reader);
  expect([forbidden.status, forbidden.body.errors[0]]).toEqual([403, expect.stringContaining(`${at.mount}`)]);
  const { status, body } = await planOf('missing');
  expect([status, body.errors[0]]).toEqual([400, expect.stringMatching(/^secret_name: there is no secret/)]);
  const unmounted = await planOf('a', testCaller(), { ...at, mount: 'nope' });
  expect([unmounted.status, unmounted.body.errors[0]]).toEqual([400, expect.stringMatching(/^mount: /)]);
  await sync.call('DELETE', at.path);
  expect((await planOf('a')).status).toBe(404);
});
