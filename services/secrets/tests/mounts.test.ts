import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '@secrets/testing';
import { callerIn, callerWith, type SecretsForTest, startSecretsForTest } from './secrets-for-test.ts';

let secrets: SecretsForTest;
beforeAll(async () => {
  secrets = await startSecretsForTest();
});
afterAll(() => secrets.stop());

const call: SecretsForTest['call'] = (...given) => secrets.call(...given);
const mount = (path: string, body: object = { type: 'kv' }) => call('POST', `/sys/mounts/${path}`, body);

test('a mount is enabled, read, tuned, listed, located and disabled', async () => {
  const created = await mount('team/kv/', { type: 'kv', description: 'ours', config: { max_versions: 4 } });
  expect(created.status).toBe(204);
  const { data } = (await call('GET', '/sys/mounts/team/kv')).body;
  expect(data).toEqual({
    accessor: expect.stringMatching(/^kv_[0-9a-f]{8}$/),
    config: {
      cas_required: false,
      default_lease_ttl: 0,
      delete_version_after: '0s',
      force_no_cache: false,
      max_lease_ttl: 0,
      max_versions: 4,
    },
    description: 'ours',
    options: { version: '2' },
    external_entropy_access: false,
    local: false,
    seal_wrap: false,
    plugin_version: '',
    deprecation_status: 'supported',
    running_plugin_version: '',
    running_sha256: '',
    type: 'kv',
    uuid: expect.any(String),
  });
  await call('POST', '/sys/mounts/team/kv/tune', { description: 'theirs', config: { max_versions: 5 } });
  const tuned = (await call('GET', '/sys/mounts/team/kv/tune')).body.data;
  expect(tuned).toMatchObject({ description: 'theirs', max_versions: 5 });
  expect((await call('GET', '/sys/mounts')).body.data['team/kv/'].accessor).toBe(data.accessor);
  expect((await call('LIST', '/sys/mounts')).body.data.keys).toContain('team/kv/');
  const located = await call('GET', '/sys/internal/ui/mounts/team/kv/some/secret');
  expect(located.body.data).toMatchObject({ path: 'team/kv/', options: { version: '2' } });
  expect((await call('DELETE', '/sys/mounts/team/kv')).status).toBe(204);
  expect((await call('GET', '/sys/mounts/team/kv')).status).toBe(404);
});

test('everything that a client says about a mount is shown as it was said, without a warning', async () => {
  const config = {
    listing_visibility: 'unauth',
    allowed_managed_keys: ['k'],
    delegated_auth_accessors: ['auth_cloudB_1'],
    max_lease_ttl: 7_200,
  };
  const flags = { local: true, seal_wrap: true, external_entropy_access: true, plugin_version: 'v1.2.3' };
  const body = { type: 'kv', options: { version: '2', one: '1' }, ...flags };
  const leases = { default_lease_ttl: '60s', force_no_cache: false, options: null };
  const audit_non_hmac_response_keys = ['b', 'a'];
  expect(
    (await mount('said', { ...body, config: { ...config, ...leases, audit_non_hmac_response_keys } })).status,
  ).toBe(204);
  const shown = { ...body, config: { ...config, default_lease_ttl: 60, audit_non_hmac_response_keys } };
  expect((await call('GET', '/sys/mounts/said')).body.data).toMatchObject(shown);
  expect((await call('GET', '/sys/mounts')).body.data['said/']).toMatchObject(shown);
  const change = {
    audit_non_hmac_response_keys: null,
    max_lease_ttl: '3600s',
    default_lease_ttl: '',
    options: {},
  };
  expect((await call('POST', '/sys/mounts/said/tune', change)).status).toBe(204);
  const tuned = (await call('GET', '/sys/mounts/said/tune')).body.data;
  expect(tuned).toMatchObject({
    ...config,
    ...flags,
    default_lease_ttl: 60,
    max_lease_ttl: 3_600,
    options: { version: '2' },
  });
  expect(tuned).not.toHaveProperty('audit_non_hmac_response_keys');
  await call('DELETE', '/sys/mounts/said');
});

test.each([['version=2'], [['version=2']], [{ version: 2 }]])(
  'takes the version of its store in each form: %j',
  async (options) => {
    expect((await mount('forms', { type: 'kv', options })).status).toBe(204);
    expect((await call('GET', '/sys/mounts/forms')).body.data.options).toEqual({ version: '2' });
    await call('DELETE', '/sys/mounts/forms');
  },
);

test.each([
  ['token_type', { token_type: 'batch' }],
  ['default_lease_ttl', { default_lease_ttl: 60, max_lease_ttl: 30 }],
  ['identity_token_key', { identity_token_key: 'mine' }],
  ['options', { options: { one: 'a\u0000' } }],
])(
  'refuses what would promise something that does not happen, or cannot be stored: %s',
  async (field, config) => {
    const { status, body } = await mount('promise', { type: 'kv', config });
    expect([status, body.errors[0]]).toEqual([400, expect.stringContaining(`${field}: `)]);
  },
);

test('refuses every type and version but 2, and says so of version 1', async () => {
  for (const body of [
    { type: 'kv', options: { version: '1' } },
    { type: 'kv', options: { version: 1 } },
    { type: 'kv', options: 'version=1' },
    { type: 'kv-v1' },
  ]) {
    const refused = await mount('v1', body);
    expect(refused.status).toBe(400);
    expect(refused.body.errors[0]).toContain('version 1');
  }
  for (const body of [{}, { type: 'database' }, { type: 'kv', options: { version: '3' } }])
    expect((await mount('v1', body)).status).toBe(400);
  expect((await mount('v2', { type: 'kv-v2' })).status).toBe(204);
});

test('null settings of a mount are the same as absent ones', async () => {
  const absent = { description: null, options: null, config: null };
  expect((await mount('nulls', { type: 'kv', ...absent })).status).toBe(204);
  expect((await call('GET', '/sys/mounts/nulls')).body.data).toMatchObject({
    description: '',
    config: { max_versions: 0 },
  });
  await call('POST', '/sys/mounts/nulls/tune', { description: 'kept', config: { max_versions: 3 } });
  expect((await call('POST', '/sys/mounts/nulls/tune', absent)).status).toBe(204);
  const version = { max_versions: null, options: { version: null }, config: { max_versions: null } };
  expect((await call('POST', '/sys/mounts/nulls/tune', version)).status).toBe(204);
  expect((await call('GET', '/sys/mounts/nulls/tune')).body.data).toMatchObject({
    description: 'kept',
    max_versions: 3,
  });
});

test('tuning prefers a setting at the top level to the same one in `config`', async () => {
  await mount('both');
  const both = { max_versions: 7, config: { max_versions: 3, cas_required: true } };
  await call('POST', '/sys/mounts/both/tune', both);
  const tuned = (await call('GET', '/sys/mounts/both/tune')).body.data;
  expect(tuned).toMatchObject({ max_versions: 7, cas_required: true });
});

test('refuses nested mounts with 409 and reserved paths with 400, also under concurrency', async () => {
  await mount('a/b');
  for (const path of ['a/b', 'a', 'a/b/c']) expect((await mount(path)).status).toBe(409);
  expect((await mount('a/bc')).status).toBe(204);
  for (const path of ['sys', 'auth/x', 'identity', 'cubbyhole']) expect((await mount(path)).status).toBe(400);
  const all = await Promise.all(['race', 'race/x', 'race', 'race/y'].map((path) => mount(path)));
  const created = all.filter(({ status }) => status === 204).length;
  const keys: string[] = (await call('LIST', '/sys/mounts')).body.data.keys;
  const raced = keys.filter((key) => key.startsWith('race'));
  expect(raced).toHaveLength(created);
  expect([['race/'], ['race/x/', 'race/y/'], ['race/x/'], ['race/y/']]).toContainEqual(raced);
});

test('refuses to mount in a namespace that was deleted in the meantime with 404', async () => {
  expect(await call('POST', '/sys/mounts/kv', { type: 'kv' }, callerIn('deleted'))).toMatchObject({
    status: 404,
    body: { errors: [] },
  });
});

test('a mount is visible only in its own namespace', async () => {
  await secrets.db.query(`insert into login.namespaces (id, path) values ('n1', 'n1')`);
  await call('POST', '/sys/mounts/mine', { type: 'kv' }, callerIn('n1'));
  await call('POST', '/mine/data/a', { data: { in: 'n1' } }, callerIn('n1'));
  expect((await call('GET', '/mine/data/a')).status).toBe(404);
  expect((await call('GET', '/mine/data/a', undefined, callerIn('n2'))).status).toBe(404);
  await mount('mine');
  expect((await call('GET', '/mine/data/a')).status).toBe(404);
  expect((await call('GET', '/mine/data/a', undefined, callerIn('n1'))).body.data.data).toEqual({
    in: 'n1',
  });
});

test('mounts and secrets may be named like the segments of the API', async () => {
  await mount('x/data');
  expect((await call('POST', '/x/data/data/data/metadata', { data: { a: 1 } })).status).toBe(200);
  expect((await call('GET', '/x/data/data/data/metadata')).body.data.data).toEqual({ a: 1 });
  expect((await call('LIST', '/x/data/metadata')).body.data.keys).toEqual(['data/']);
});

test('the path of a disabled mount is free at once for every process, and a new mount there is empty', async () => {
  const other = await secrets.startAnother();
  const deeper = '/free/sub/data/a';
  await mount('free');
  await call('POST', '/free/data/a', { data: { old: 'canary' } });
  expect((await other.call('GET', '/free/data/a')).status).toBe(200);
  await call('DELETE', '/sys/mounts/free');
  expect((await other.call('GET', '/free/data/a')).status).toBe(404);
  await mount('free/sub');
  expect((await other.call('POST', deeper, { data: { new: 1 } })).status).toBe(200);
  expect((await call('GET', deeper)).body.data.data).toEqual({ new: 1 });
  await call('DELETE', '/sys/mounts/free/sub');
  await mount('free');
  expect((await other.call('GET', '/free/data/a')).status).toBe(404);
});

test('readers get the value or 404 while a mount is disabled and enabled again', async () => {
  await mount('busy');
  await call('POST', '/busy/data/a', { data: { a: 1 } });
  let isOver = false;
  const seen = new Set<string>();
  const reader = async () => {
    while (!isOver) {
      const { status, body } = await call('GET', '/busy/data/a');
      seen.add(`${status} ${JSON.stringify(body.data?.data)}`);
    }
  };
  const readers = [reader(), reader(), reader()];
  for (let i = 0; i < 5; i++) {
    await call('DELETE', '/sys/mounts/busy');
    await mount('busy');
    await call('POST', '/busy/data/a', { data: { a: 1 } });
  }
  isOver = true;
  await Promise.all(readers);
  expect([...seen].filter((answer) => !['200 {"a":1}', '404 undefined'].includes(answer))).toEqual([]);
});

test('a process that starts purges the mounts that an earlier one left, of any size', async () => {
  await mount('large');
  const [{ id } = { id: '' }] = await secrets.db.query<{ id: string }>(
    "select id from secrets.mounts where path = 'large' and disabled_at is null",
  );
  await secrets.db.query(
    `insert into secrets.secrets (id, mount_id, path, watched)
     select gen_random_uuid(), $1, 's' || n, n % 2 = 0 from generate_series(1, 1500) n`,
    [id],
  );
  await secrets.db.query('update secrets.mounts set disabled_at = now() where id = $1', [id]); // and the process died
  await secrets.start();
  await eventually(async () => {
    const rows = await secrets.db.query('select from secrets.mounts where disabled_at is not null');
    return rows.length === 0;
  });
  expect(await secrets.db.query('select from secrets.secrets where mount_id = $1', [id])).toEqual([]);
  await eventually(() => secrets.published.length === 750);
});

test('tuning needs `update`; an unknown mount is 404 to tune, and no error to disable', async () => {
  expect((await call('POST', '/sys/mounts/v2/tune', {}, callerWith('create'))).status).toBe(403);
  expect((await call('POST', '/sys/mounts/nowhere/tune', {})).status).toBe(404);
  expect((await call('DELETE', '/sys/mounts/nowhere')).status).toBe(204);
});

test('the OpenAPI description shows the paths below a mount instead of the wildcard', async () => {
  const served = await fetch(new URL('/openapi.json', secrets.url));
  const { paths } = (await served.json()) as { paths: Record<string, Record<string, unknown>> };
  expect(Object.keys(paths['/v1/{mount}/data/{path}']!).sort()).toEqual(['delete', 'get', 'patch', 'post']);
  expect(Object.keys(paths['/v1/{mount}/config']!).sort()).toEqual(['get', 'post']);
  expect(paths['/v1/{path}']).toBeUndefined();
});
