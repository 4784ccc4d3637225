import { randomUUID } from 'node:crypto';
import { beforeEach, expect, test } from '@jest/globals';
import type { Caller } from '@secrets/caller';
import { testCaller } from '@secrets/http/testing';
import { eventually, type Fixture, useSyncControl } from '../sync-control-for-test.ts';

const sync = useSyncControl();
/** In a namespace of its own, so that its lists hold nothing else. */
let caller: Caller;
let at: Fixture;

beforeEach(async () => {
  const id = `n-${randomUUID()}`;
  await sync.db.query('insert into login.namespaces (id, path) values ($1, $1)', [id]);
  caller = testCaller({ namespace: { id, path: id } });
  at = await sync.fixture({}, caller);
});

const call = (method: string, path: string) =>
  sync.call(method, `/sys/sync/associations${path}`, undefined, caller);

async function synced(...names: string[]): Promise<void> {
  for (const name of names) {
    await at.write(name, { k: 'v' });
    await at.set(name);
  }
  await sync.work();
}

test('LIST returns every associated secret once, with mount and name apart', async () => {
  await synced('a', 'deep/b');
  const { status, body } = await call('LIST', '');
  expect(status).toBe(200);
  expect(body.warnings).toBeNull();
  expect(body.data).toEqual({
    key_info: {
      [`${at.mount}/a`]: [{ mount: `${at.mount}/`, secret_path: 'a' }],
      [`${at.mount}/deep/b`]: [{ mount: `${at.mount}/`, secret_path: 'deep/b' }],
    },
    keys: [`${at.mount}/a`, `${at.mount}/deep/b`],
    total_associations: 2,
    total_secrets: 2,
  });
});

test('LIST continues after the last mount and secret of a page', async () => {
  await synced('a', 'b', 'c');
  const first = (await call('LIST', '?limit=2')).body;
  expect(first.data.keys).toEqual([`${at.mount}/a`, `${at.mount}/b`]);
  expect(first.data.total_secrets).toBe(3);
  const next = `after_mount=${encodeURIComponent(at.mount)}&after_secret=b`;
  expect(first.warnings).toEqual([expect.stringMatching(new RegExp(` ${next}$`))]);
  const rest = { data: { keys: [`${at.mount}/c`] }, warnings: null };
  for (const query of [next, `after_mount=${at.mount}/&after_secret=b`])
    expect((await call('LIST', `?limit=1&${query}`)).body).toMatchObject(rest);
});

test('LIST returns 404 without associations, and refuses an invalid limit with 400', async () => {
  const empty = await call('LIST', '');
  expect([empty.status, empty.body.errors]).toEqual([404, []]);
  const { status, body } = await call('LIST', '?limit=10001');
  expect([status, body.errors]).toEqual([400, ['limit: must be at most 10000']]);
});

test('GET returns the destinations of a secret, by path and by query', async () => {
  await synced('deep/a');
  const expected = {
    associated_destinations: {
      [`cloudA-sm/${at.name}`]: {
        type: 'cloudA-sm',
        name: at.name,
        sync_status: 'SYNCED',
        held_by_hand: true,
        held_by_rules: [],
        updated_at: expect.stringMatching(/\+00:00$/),
      },
    },
  };
  expect((await call('GET', `/${at.mount}/deep/a`)).body.data).toEqual(expected);
  const query = `/destinations?mount=${at.mount}&secret_name=deep/a`;
  expect((await call('GET', query)).body.data).toEqual(expected);
});

test('GET by query needs read on the path of the secret, too', async () => {
  await synced('deep/a', 'b');
  const rules = {
    paths: [
      { path: 'sys/sync/associations/*', capabilities: ['read'] },
      { path: `sys/sync/associations/${at.mount}/deep/*`, capabilities: ['deny'] },
      { path: `sys/sync/associations/${at.mount}/wrapped`, capabilities: ['read'], min_wrapping_ttl: 60 },
    ],
  };
  await sync.db.query(
    "insert into login.policies (namespace_id, name, source, rules) values ($1, 'limited', '', $2::jsonb)",
    [caller.namespace.id, JSON.stringify(rules)],
  );
  const limited = { ...caller, policies: ['limited'], tokenNamespace: caller.namespace };
  const statusOf = async (secretName: string) => {
    const query = `destinations?mount=/${at.mount}/&secret_name=${secretName}`;
    return (await sync.call('GET', `/sys/sync/associations/${query}`, undefined, limited)).status;
  };
  expect(await statusOf('b')).toBe(200);
  expect(await statusOf('deep/a')).toBe(403);
  expect(await statusOf('wrapped')).toBe(403);
  expect(await statusOf('deep/missing')).toBe(403);
  await sync.db.query(`update login.policies set row_hash = 'r1:forged' where name = 'limited'`);
  expect(await statusOf('b')).toBe(403);
});

test('GET reads a secret of a mount that is named destinations', async () => {
  const mount = 'destinations';
  await sync.secrets('POST', `/sys/mounts/${mount}`, { type: 'kv' }, caller);
  await sync.secrets('POST', `/${mount}/data/a`, { data: { k: 'v' } }, caller);
  await at.set('a', { mount });
  const { status, body } = await call('GET', `/${mount}/a`);
  expect(status).toBe(200);
  expect(Object.keys(body.data.associated_destinations)).toEqual([`cloudA-sm/${at.name}`]);
});

test('GET shows the status of the entry that most needs attention', async () => {
  await sync.call('PATCH', at.path, { granularity: 'secret-key' }, caller);
  await at.write('a', { x: '1' });
  await at.set('a');
  await sync.work('fail');
  const status = async () =>
    (await call('GET', `/${at.mount}/a`)).body.data.associated_destinations[`cloudA-sm/${at.name}`]
      .sync_status;
  expect(await status()).toBe('CLIENT_SIDE_ERROR');
  await at.write('a', { x: '1', y: '2' });
  await at.set('a');
  expect(await status()).toBe('PENDING');
  // Again, as the event of the write may arrive after the set and make the entries pending once more.
  await eventually(async () => {
    await sync.work('fail');
    return (await status()) === 'CLIENT_SIDE_ERROR';
  });
});

test('GET returns every destination of a secret, 1,000 on a page, and says where the next one begins', async () => {
  await synced('a');
  await sync.db.query(
    `with users as (
       insert into sync.destinations (namespace_id, namespace_path, type, name, settings)
       select $1, '', 'cloudA-sm', 'user' || n, '{}' from generate_series(1, 1001) as n returning id)
     insert into sync.associations (destination_id, namespace_id, mount_id, mount, accessor, secret_id, secret_name, planned_revision)
     select users.id, a.namespace_id, a.mount_id, a.mount, a.accessor, a.secret_id, a.secret_name, 1
       from users cross join sync.associations a where a.namespace_id = $1 and a.secret_name = 'a'`,
    [caller.namespace.id],
  );
  const page = async (query: string) => {
    const { body } = await call('GET', `/${at.mount}/a${query}`);
    const { associated_destinations: found, next } = body.data;
    return { names: Object.keys(found), next, warnings: body.warnings };
  };
  const first = await page('');
  expect(first).toMatchObject({
    next: expect.any(String),
    warnings: [expect.stringContaining(`after=${first.next}`)],
  });
  const second = await page(`?after=${first.next}`);
  expect(second).toMatchObject({ next: undefined, warnings: null });
  expect([first.names.length, second.names.length]).toEqual([1_000, 2]);
  expect(new Set([...first.names, ...second.names]).size).toBe(1_002);
  const few = await call('GET', `/destinations?mount=${at.mount}&secret_name=a&limit=2`);
  expect(Object.keys(few.body.data.associated_destinations)).toHaveLength(2);
  const { status, body } = await call('GET', `/${at.mount}/a?after=x`);
  expect([status, body.errors]).toEqual([400, ['after: must be the `next` of another page']]);
});

test('GET shows the association that is not being removed, if a mount was replaced by one with its name', async () => {
  await synced('a');
  await sync.db.query(
    `insert into sync.associations (destination_id, namespace_id, mount_id, mount, accessor, secret_id, secret_name, planned_revision,
                                    removing, created_at, unnamed_keys)
     select destination_id, namespace_id, gen_random_uuid(), mount, 'kv_' || n, gen_random_uuid(), secret_name, 1, true,
            now() + n * interval '1 hour', '[{"key":"k","reason":"r"}]'
       from sync.associations a, generate_series(-1, 1) as n where a.namespace_id = $1`,
    [caller.namespace.id],
  );
  const { body } = await call('GET', `/${at.mount}/a`);
  expect(body.data.associated_destinations).toMatchObject({
    [`cloudA-sm/${at.name}`]: { sync_status: 'SYNCED' },
  });
});

test('GET returns 404 for a secret without destinations, and names a missing parameter with 400', async () => {
  for (const path of [`/${at.mount}/none`, `/destinations?mount=${at.mount}&secret_name=none`]) {
    const { status, body } = await call('GET', path);
    expect([status, body.errors]).toEqual([404, []]);
  }
  const { status, body } = await call('GET', '/destinations?mount=kv');
  expect([status, body.errors]).toEqual([400, ['secret_name is required']]);
});

test('a namespace does not see the associations of another one', async () => {
  await synced('a');
  const other = await sync.call('GET', `/sys/sync/associations/${at.mount}/a`);
  expect([other.status, other.body.errors]).toEqual([404, []]);
});
