import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { Capability } from '@secrets/caller';
import { testCaller } from '@secrets/http/testing';
import { useSyncControl } from '../sync-control-for-test.ts';

const sync = useSyncControl();

const ofType = '/sys/sync/destinations/cloudA-sm';
const newPath = () => `${ofType}/d-${randomUUID()}`;
const keys = { access_key_id: 'AKIATEST', secret_access_key: 'canary-value' };
const inNamespace = (id: string) => testCaller({ namespace: { id, path: id } });
const newNamespace = async () => {
  const id = `n-${randomUUID()}`;
  await sync.db.query('insert into login.namespaces (id, path) values ($1, $1)', [id]);
  return inNamespace(id);
};

describe('POST sys/sync/destinations/:type/:name', () => {
  test('creates a destination and returns it, with secret fields masked', async () => {
    const path = newPath();
    const { status, body } = await sync.call('POST', path, {
      ...keys,
      region: 'eu-central-1',
      granularity: 'secret-key',
      custom_tags: { team: 'shop' },
    });
    expect(status).toBe(200);
    expect(body.warnings).toBeNull();
    expect(body.data).toEqual({
      type: 'cloudA-sm',
      name: path.split('/').at(-1),
      connection_details: {
        access_key_id: '*****',
        secret_access_key: '*****',
        role_arn: '',
        external_id: '',
        region: 'eu-central-1',
        identity_token_audience: '',
        identity_token_ttl: 0,
      },
      options: expect.objectContaining({
        granularity_level: 'secret-key',
        secret_name_template: 'secrets/{{ .MountAccessor }}/{{ .SecretPath }}/{{ .SecretKey }}',
        custom_tags: { team: 'shop' },
        conflict_policy: 'refuse',
      }),
    });
    expect((await sync.call('GET', path)).body.data).toEqual(body.data);
  });

  test('stores credentials encrypted', async () => {
    const path = newPath();
    await sync.call('POST', path, keys);
    const [row] = await sync.db.query<{ row: string; size: number }>(
      `select d::text as row, length(sealed_credentials) as size, encode(sealed_credentials, 'escape') as sealed
         from sync.destinations d where name = $1`,
      [path.split('/').at(-1)],
    );
    expect(row!.size).toBeGreaterThan(0);
    expect(JSON.stringify(row)).not.toContain('canary-value');
  });

  test('resets omitted settings in an update with a warning, and keeps credentials; PATCH keeps both', async () => {
    const path = newPath();
    await sync.call('POST', path, { ...keys, role_arn: 'arn:aws:iam::123456789012:role/sync' });
    const { status, body } = await sync.call('POST', path, {
      secret_access_key: '*****',
      recovery_window_days: '7',
    });
    expect(status).toBe(200);
    expect(body.data.connection_details).toMatchObject({
      access_key_id: '*****',
      secret_access_key: '*****',
      role_arn: '',
    });
    expect(body.warnings).toEqual([expect.stringMatching(/omits it: role_arn; PATCH keeps/)]);
    expect(body.data.options.recovery_window_days).toBe(7);
    const patched = await sync.call('PATCH', path, { kms_key_id: 'alias/x' });
    expect(patched.body.data.options).toMatchObject({ recovery_window_days: 7, kms_key_id: 'alias/x' });
  });

  test('names unknown fields in warnings', async () => {
    const { status, body } = await sync.call('POST', newPath(), { color: 'red' });
    expect(status).toBe(200);
    expect(body.warnings).toEqual(['unknown field color was ignored']);
  });

  test.each([
    ['an invalid field', { region: 'nowhere' }, /^region: must be a region/],
    ['an access key without its secret', { access_key_id: 'AKIATEST' }, /^access_key_id: /],
    ['a mask without a stored value', { secret_access_key: '*****' }, /^secret_access_key: /],
    ['a template with an unknown variable', { secret_name_template: '{{ .X }}' }, /^secret_name_template: /],
    ['another name than the one in the path', { name: 'other' }, /^name: is part of the path/],
  ])('refuses %s with 400, naming the field', async (_what, fields, sentence) => {
    const { status, body } = await sync.call('POST', newPath(), fields);
    expect(status).toBe(400);
    expect(body.errors[0]).toMatch(sentence);
  });

  test('names every invalid field', async () => {
    const { body } = await sync.call('POST', newPath(), { granularity: 'x', recovery_window_days: 1 });
    expect(body.errors).toEqual([
      expect.stringMatching(/^recovery_window_days: /),
      expect.stringMatching(/^granularity: /),
    ]);
  });

  test('refuses a body that is not an object and an invalid name with 400, an unknown type with 404', async () => {
    expect((await sync.call('POST', newPath(), [])).body.errors).toEqual([
      'the request body must be a JSON object',
    ]);
    const unknown = await sync.call('POST', '/sys/sync/destinations/cloudX/d', {});
    expect([unknown.status, unknown.body.errors]).toEqual([
      404,
      [expect.stringMatching(/^type: must be one of cloudA-sm/)],
    ]);
    const misnamed = await sync.call('POST', `${ofType}/-d`, {});
    expect([misnamed.status, misnamed.body.errors[0]]).toEqual([400, expect.stringMatching(/^name: /)]);
  });

  test('needs `create` for a new destination and `update` for an existing one', async () => {
    const path = newPath();
    const as = (...grants: Capability[]) =>
      sync.call('POST', path, {}, testCaller({ policies: ['ci'], grants }));
    expect((await as('update', 'patch')).status).toBe(403);
    expect((await as('create')).status).toBe(200);
    const refused = await as('create');
    expect([refused.status, refused.body.errors]).toEqual([403, ['permission denied']]);
    expect((await as('update')).status).toBe(200);
  });

  test('returns 404 in a namespace that was just deleted', async () => {
    const { status, body } = await sync.call('POST', newPath(), {}, inNamespace('deleted'));
    expect([status, body.errors]).toEqual([404, []]);
  });

  test('pushes again what failed and waits for the operator', async () => {
    const at = await sync.fixture();
    await at.write('a', { k: 'v' });
    await at.set('a');
    await sync.work('fail');
    const key = `${at.accessor}/a`;
    expect((await at.lines())[key]).toMatchObject({
      sync_status: 'CLIENT_SIDE_ERROR',
      attempts: 1,
      last_error: 'no permission',
    });
    await sync.call('PATCH', at.path, keys);
    expect((await at.lines())[key]).toMatchObject({ sync_status: 'PENDING', last_error: null });
  });
});

describe('PATCH sys/sync/destinations/:type/:name', () => {
  test('changes the given fields; null restores a default or removes a credential', async () => {
    const path = newPath();
    await sync.call('POST', path, { ...keys, recovery_window_days: 7 });
    const change = { recovery_window_days: null, access_key_id: null, secret_access_key: null };
    const { status, body } = await sync.call('PATCH', path, change, testCaller({ grants: ['patch'] }));
    expect(status).toBe(200);
    expect(body.data.options.recovery_window_days).toBe(0);
    expect(Object.keys(body.data.connection_details)).not.toContain('access_key_id');
  });

  test('takes a field that the type did not have yet when the destination was stored as its default', async () => {
    const path = newPath();
    const created = (await sync.call('POST', path, keys)).body.data;
    await sync.db.query(`update sync.destinations set settings = '{}' where name = $1`, [
      path.split('/').at(-1),
    ]);
    expect((await sync.call('GET', path)).body.data).toEqual(created);
    const { status, body } = await sync.call('PATCH', path, { recovery_window_days: 7 });
    expect([status, body.warnings]).toEqual([200, null]);
    expect(body.data).toEqual({ ...created, options: { ...created.options, recovery_window_days: 7 } });
  });

  test.each([
    ['allowed_ports', 'x'],
    ['custom_tags', [1]],
    ['granularity', 'newer'],
    ['recovery_window_days', null],
  ])(
    'a destination whose %s is stored as %j is not used, until that is written again or it is deleted',
    async (field, value) => {
      const at = await sync.fixture();
      const { path } = at;
      const corrupt = () =>
        sync.db.query('update sync.destinations set settings = settings || $2::jsonb where name = $1', [
          at.name,
          JSON.stringify({ [field]: value }),
        ]);
      await corrupt();
      await at.write('s', { k: 'v' });
      const refused = {
        status: 409,
        body: {
          errors: [
            expect.stringMatching(
              `^destination ${at.name}: the stored ${field} is not valid, so write it again: .`,
            ),
          ],
        },
      };
      expect(await sync.call('GET', path)).toMatchObject(refused);
      expect(await at.set('s')).toMatchObject(refused);
      expect(await sync.call('PATCH', path, { conflict_policy: 'refuse' })).toMatchObject(refused);
      expect((await sync.call('PATCH', path, { [field]: null })).status).toBe(200);
      expect((await at.set('s')).status).toBe(200);
      await corrupt();
      expect((await sync.call('POST', path, keys)).status).toBeLessThan(300);
      await corrupt();
      expect((await sync.call('DELETE', `${path}?force_delete=true`)).status).toBeLessThan(300);
    },
  );

  test('an association of a destination that was stored with fewer fields is planned with their defaults', async () => {
    const at = await sync.fixture();
    await sync.db.query(`update sync.destinations set settings = '{}' where name = $1`, [at.name]);
    await at.write('older', { k: 'v' });
    expect((await at.set('older')).status).toBe(200);
    expect(await sync.db.query('select distinct granularity from sync.associations')).toEqual([
      { granularity: 'secret-path' },
    ]);
  });

  test('returns 404 for a destination that does not exist', async () => {
    const { status, body } = await sync.call('PATCH', newPath(), {});
    expect([status, body.errors]).toEqual([404, []]);
  });

  test('refuses to change the region', async () => {
    const path = newPath();
    await sync.call('POST', path, { region: 'eu-central-1' });
    const { status, body } = await sync.call('PATCH', path, { region: 'us-east-1' });
    expect([status, body.errors[0]]).toEqual([400, expect.stringMatching(/^region: cannot be changed/)]);
  });
});

describe('GET sys/sync/destinations/:type/:name', () => {
  test('returns 404 for a destination that does not exist or is in another namespace', async () => {
    const path = newPath();
    expect((await sync.call('GET', path)).body.errors).toEqual([]);
    await sync.call('POST', path, {});
    expect((await sync.call('GET', path)).status).toBe(200);
    expect((await sync.call('GET', path, undefined, await newNamespace())).status).toBe(404);
  });
});

/** Executes a statement without triggers, with which 10,000 rows would take longer than a statement may. */
const withoutTriggers = (statement: string, parameters: unknown[]) =>
  sync.db.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica');
    await tx.query(statement, parameters);
  });

describe('LIST sys/sync/destinations', () => {
  test('returns 404 if the namespace has none, and if the page is empty', async () => {
    const caller = await newNamespace();
    for (const path of ['/sys/sync/destinations', ofType]) {
      const { status, body } = await sync.call('LIST', path, undefined, caller);
      expect([status, body.errors]).toEqual([404, []]);
    }
  });

  test('returns the names by type, and those of one type in pages', async () => {
    const caller = await newNamespace();
    for (const name of ['c', 'a', 'b']) await sync.call('POST', `${ofType}/${name}`, {}, caller);
    const list = async (path: string) => (await sync.call('LIST', path, undefined, caller)).body.data;
    expect(await list('/sys/sync/destinations')).toEqual({
      key_info: { 'cloudA-sm/': ['a', 'b', 'c'] },
      keys: ['cloudA-sm/'],
      total_destinations: 3,
    });
    expect(await list(ofType)).toEqual({ keys: ['a', 'b', 'c'], total_destinations: 3 });
    expect(await list(`${ofType}?limit=2`)).toEqual({ keys: ['a', 'b'], total_destinations: 3 });
    expect(await list(`${ofType}?limit=2&after=b`)).toEqual({ keys: ['c'], total_destinations: 3 });
    expect((await sync.call('LIST', `${ofType}?after=c`, undefined, caller)).status).toBe(404);
  });

  test('warns where the next page begins, only if there is one', async () => {
    const caller = await newNamespace();
    for (const name of ['a', 'b', 'c']) await sync.call('POST', `${ofType}/${name}`, {}, caller);
    const warnings = async (query: string) =>
      (await sync.call('LIST', `${ofType}?${query}`, undefined, caller)).body.warnings;
    expect(await warnings('limit=2')).toEqual([expect.stringMatching(/ after=b$/)]);
    expect(await warnings('limit=3')).toBeNull();
  });

  test('by type, refers to the list of a type that has more than a page', async () => {
    const caller = await newNamespace();
    await sync.call('POST', `${ofType}/a`, {}, caller);
    await withoutTriggers(
      `insert into sync.destinations (namespace_id, namespace_path, type, name, settings, lane_id)
       select namespace_id, namespace_path, type, name || lpad(number::text, 5, '0'), settings, lane_id
         from sync.destinations, generate_series(1, 10000) as number where namespace_id = $1`,
      [caller.namespace.id],
    );
    const { data, warnings } = (await sync.call('LIST', '/sys/sync/destinations', undefined, caller)).body;
    expect(data.key_info['cloudA-sm/']).toHaveLength(10_000);
    expect(warnings).toEqual([
      expect.stringMatching(/^sys\/sync\/destinations\/cloudA-sm: .* after=a09999$/),
    ]);
    await withoutTriggers(`delete from sync.destinations where namespace_id = $1 and name <> 'a'`, [
      caller.namespace.id,
    ]);
  });

  test('refuses an unknown type with 404 and an invalid limit with 400', async () => {
    const unknown = await sync.call('LIST', '/sys/sync/destinations/cloudX');
    expect([unknown.status, unknown.body.errors[0]]).toEqual([
      404,
      expect.stringMatching(/^type: must be one of cloudA-sm/),
    ]);
    const { status, body } = await sync.call('LIST', `${ofType}?limit=10001`);
    expect([status, body.errors]).toEqual([400, ['limit: must be at most 10000']]);
  });
});
