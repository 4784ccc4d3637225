import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Caller } from '@secrets/caller';
import { testCaller } from '@secrets/http/testing';
import { eventually, type Fixture, useSyncControl } from '../sync-control-for-test.ts';
import { entityWith as entityOf, mayEverything, rulesOf, writePolicy } from './rules-for-test.ts';

const sync = useSyncControl();
let at: Fixture;
let owner: Caller;

beforeEach(async () => {
  await sync.reset();
  at = await sync.fixture();
  owner = await mayEverything(sync);
});

const entityWith = (policy: string, paths: Parameters<typeof entityOf>[2]) => entityOf(sync, policy, paths);
const rules = () => rulesOf(sync, at, owner);
const rulePath = (name: string) => rules().path(name);
const write = (name: string, body: object, caller: Caller = owner) => rules().write(name, body, caller);
const accept = (name: string, body: object, caller: Caller = owner) => rules().accept(name, body, caller);
const read = (name: string) => rules().read(name);
const upToDate = (name: string) => rules().upToDate(name);
const associated = async () =>
  (
    await sync.db.query<{ name: string }>(
      'select secret_name as name from sync.associations where not removing order by secret_name collate "C"',
    )
  ).map(({ name }) => name);
const becomes = (...names: string[]) => eventually(async () => (await associated()).join() === names.join());
const setMetadata = (name: string, custom_metadata: object) =>
  sync.secrets('POST', `/${at.mount}/metadata/${name}`, { custom_metadata });
const workUntilGone = (...names: string[]) =>
  eventually(async () => {
    await sync.work();
    return (await associated()).join() === names.join();
  });

describe('a rule', () => {
  test('associates what exists and matches, and nothing else', async () => {
    for (const name of ['a/1', 'a/2', 'a/tmp', 'b/1']) await at.write(name, { v: 1 });
    expect((await accept('r', { path: 'a/*', exclude: ['+/tmp'] })).state).toBe('running');
    expect(await upToDate('r')).toMatchObject({
      name: 'r',
      store_name: at.name,
      mount: at.mount,
      path: 'a/*',
      exclude: ['+/tmp'],
      metadata_match: {},
      owner: { type: 'entity', entity_id: owner.entityId },
      matched: 2,
      associated: 2,
      refused: 0,
      error: null,
      last_run_at: expect.any(String),
    });
    expect(await associated()).toEqual(['a/1', 'a/2']);
  });

  test('associates a secret with its first version, and one whose metadata begins to match', async () => {
    await accept('r', { path: 'a/+', metadata_match: { sync: 'prod' } });
    await accept('all', { path: 'b*' });
    await upToDate('all');
    await upToDate('r');
    await at.write('bb/c', { v: 1 });
    await becomes('bb/c');
    await at.write('a/1', { v: 1 });
    await setMetadata('a/1', { sync: 'test' });
    await setMetadata('a/2', { sync: 'prod' }); // without a version
    await setMetadata('a/1', { sync: 'prod' });
    await becomes('a/1', 'bb/c');
    await at.write('a/2', { v: 1 });
    await becomes('a/1', 'a/2', 'bb/c');
  });

  test('goes through more secrets than a page has', async () => {
    await sync.db.query(
      `with made as (
         insert into secrets.secrets (id, mount_id, path, current_version)
         select gen_random_uuid(), id, 'p/' || lpad(n::text, 4, '0'), 0 from secrets.mounts, generate_series(1, 1100) as n where path = $1
         returning id)
       select count(*) from made`,
      [at.mount],
    );
    await at.write('p/9999', { v: 1 });
    await accept('r', { path: 'p/*' });
    expect(await upToDate('r')).toMatchObject({ matched: 1_101, associated: 1, refused: 1_100 });
  });

  test('refuses a secret whose name is taken, and associates it when the name is free', async () => {
    await at.write('x/db', { v: 1 });
    await at.write('x/other', { v: 1 });
    const named = { secret_name_template: 'same-{{ .SecretBaseName }}' };
    at = { ...(await sync.fixture(named)), mount: at.mount, write: at.write };
    await at.write('y/db', { v: 1 });
    await sync.call('POST', `${at.path}/associations/set?wait=0`, { mount: at.mount, secret_name: 'y/db' });
    await accept('r', { path: 'x/*' });
    expect(await upToDate('r')).toMatchObject({
      associated: 1,
      refused: 1,
      refusals: [{ secret_name: 'x/db', reason: expect.stringContaining('y/db') }],
    });
    await sync.call('POST', `${at.path}/associations/remove?wait=0`, {
      mount: at.mount,
      secret_name: 'y/db',
    });
    await workUntilGone('x/other');
    await sync.db.query('update sync.rule_refusals set due_at = now()');
    await becomes('x/db', 'x/other');
    expect(await read('r')).toMatchObject({ associated: 2, refused: 0 });
  });

  test('refuses a secret without a readable version, and associates it when there is one', async () => {
    await at.write('a', { v: 1 });
    await sync.secrets('DELETE', `/${at.mount}/data/a`);
    await accept('r', { path: 'a' });
    expect(await upToDate('r')).toMatchObject({ refused: 1 });
    await at.write('a', { v: 2 });
    await becomes('a');
  });
});

describe('the owner of a rule', () => {
  test('is an entity, whose current policies decide about each secret', async () => {
    const set = { path: 'sys/sync/destinations/*', capabilities: ['update' as const] };
    const reader = await entityWith('reader', [
      set,
      { path: `${at.mount}/data/a/*`, capabilities: ['read'] },
    ]);
    await at.write('a/1', { v: 1 });
    await at.write('b/1', { v: 1 });
    await accept('r', { path: '*' }, reader);
    expect(await upToDate('r')).toMatchObject({
      refusals: [
        { secret_name: 'b/1', reason: expect.stringContaining('the owner of the rule may not read') },
      ],
    });
    expect(await associated()).toEqual(['a/1']);
    await writePolicy(sync, 'reader', [set, { path: `${at.mount}/data/b/*`, capabilities: ['read'] }]);
    await at.write('a/2', { v: 1 });
    await at.write('b/2', { v: 1 });
    await becomes('a/1', 'b/2'); // what is associated stays
  });

  test('needs the right to set the association, too', async () => {
    const reader = await entityWith('only-reader', [{ path: `${at.mount}/data/*`, capabilities: ['read'] }]);
    await at.write('a', { v: 1 });
    await accept('r', { path: '*' }, reader);
    expect(await upToDate('r')).toMatchObject({
      associated: 0,
      refusals: [{ reason: 'the owner of the rule may not set this association' }],
    });
  });

  test('who is disabled associates nothing new, and keeps what is associated', async () => {
    await at.write('a/1', { v: 1 });
    await accept('r', { path: 'a/*' });
    await upToDate('r');
    await sync.db.query('update login.entities set disabled = true where id = $1', [owner.entityId]);
    await at.write('a/2', { v: 1 });
    await eventually(async () => (await read('r')).refused === 1);
    await sync.db.query('update sync.rules set due_at = now()');
    await eventually(async () => (await read('r')).error !== null);
    expect(await upToDate('r')).toMatchObject({
      error: expect.stringContaining('deleted or disabled'),
      associated: 1,
    });
    expect(await associated()).toEqual(['a/1']);
  });

  test('without an entity is the token, while it exists', async () => {
    const accessor = `accessor-${randomUUID()}`;
    await sync.db.query(
      `insert into login.tokens (hash, accessor, namespace_id, policies, display_name, creation_path, renewable, ttl_seconds, expires_at, max_expires_at)
       values ($1, $2, 'root', '{root}', 'root', '', false, 0, null, null)`,
      [Buffer.from(accessor), accessor],
    );
    const token = testCaller({ entityId: null, accessor, policies: ['root'] });
    await accept('r', { path: '*' }, token);
    await at.write('a', { v: 1 });
    await becomes('a');
    await sync.db.query('delete from login.tokens where accessor = $1', [accessor]);
    await at.write('b', { v: 1 });
    await eventually(async () => (await read('r')).refused === 1);
    expect(await associated()).toEqual(['a']);
    expect((await read('r')).refusals[0].reason).toContain('its token no longer exists');
    const batch = testCaller({ entityId: null, accessor: null, policies: ['root'] });
    expect((await write('s', { path: '*' }, batch)).status).toBe(400);
  });

  test('with no rights in the mount, or named by somebody without sudo, is refused', async () => {
    const stranger = await entityWith('stranger', [{ path: 'other/*', capabilities: ['read'] }]);
    const { status, body } = await write('r', { path: '*' }, stranger);
    expect([status, body.errors[0]]).toEqual([
      400,
      expect.stringContaining('those of its tokens do not count'),
    ]);
    expect((await write('r', { path: '*', owner: owner.entityId }, stranger)).status).toBe(403);
    const operator = { ...stranger, grants: ['create', 'sudo'] as const };
    expect((await write('r', { path: '*', owner: owner.entityId }, operator)).body.data.owner.entity_id).toBe(
      owner.entityId,
    );
  });

  test('is not believed in a row that was changed', async () => {
    await at.write('a', { v: 1 });
    await accept('r', { path: 'none' });
    await upToDate('r');
    await sync.db.query("update sync.rules set path = '*', beginning = '', due_at = now()");
    await eventually(async () => (await read('r')).error !== null);
    expect((await read('r')).owner.type).toBe('unknown');
    expect(await associated()).toEqual([]);
  });
});

describe('an association', () => {
  test('shows what holds it in lists, and after a set and a removal', async () => {
    await at.write('a', { v: 1 });
    const holders = async () => {
      const [line] = Object.values(await at.lines());
      return [line?.held_by_hand, line?.held_by_rules];
    };
    for (const name of ['two', 'one']) {
      await accept(name, { path: '*' });
      await eventually(async () => (await read(name)).associated === 1);
    }
    expect(await holders()).toEqual([false, ['one', 'two']]);
    const answer = await at.set('a');
    expect(answer.body.data.associated_secrets[`${at.accessor}/a`].held_by_hand).toBe(true);
    expect(await holders()).toEqual([true, ['one', 'two']]);
    await at.remove('a');
    expect(await holders()).toEqual([false, ['one', 'two']]);
  });

  test('ends with the last of its holds', async () => {
    await at.write('a', { v: 1 });
    await at.write('b', { v: 1 });
    await accept('one', { path: 'a' });
    await accept('two', { path: '*' });
    await upToDate('one');
    await upToDate('two');
    await at.set('a');
    await sync.work();
    const { body } = await at.remove('a');
    expect(body.data.held_by_rules).toEqual(['one', 'two']);
    await sync.call('DELETE', rulePath('two'));
    await workUntilGone('a');
    expect((await sync.call('GET', rulePath('two'))).status).toBe(404);
    await sync.call('DELETE', rulePath('one'));
    await workUntilGone();
  });

  test('that is held by hand as well stays when its rule is deleted', async () => {
    await at.write('a', { v: 1 });
    await at.set('a');
    await accept('r', { path: '*' });
    await upToDate('r');
    await sync.call('DELETE', rulePath('r'));
    await eventually(async () => (await sync.call('GET', rulePath('r'))).status === 404);
    expect(await associated()).toEqual(['a']);
    const [row] = await sync.db.query('select source_gone_at from sync.associations');
    expect(row).toEqual({ source_gone_at: null });
  });

  test('stays as one that is held by hand if its rule is deleted with keep', async () => {
    await at.write('a', { v: 1 });
    await accept('r', { path: '*' });
    await upToDate('r');
    await sync.call('DELETE', `${rulePath('r')}?keep=true`);
    await eventually(async () => (await sync.call('GET', rulePath('r'))).status === 404);
    expect(await sync.db.query('select by_hand, source_gone_at from sync.associations')).toEqual([
      { by_hand: true, source_gone_at: null },
    ]);
    expect((await at.remove('a')).body.data.held_by_rules).toBeUndefined();
  });

  test('ends if its rule is narrowed, or its metadata no longer matches', async () => {
    for (const name of ['a/1', 'a/2', 'b/1']) await at.write(name, { v: 1 });
    await setMetadata('a/1', { sync: 'prod' });
    await setMetadata('a/2', { sync: 'prod' });
    await accept('r', { path: '*' });
    await upToDate('r');
    await sync.work();
    const narrowed = { path: '*', metadata_match: { sync: 'prod' } };
    const { fingerprint: confirm } = (await rules().plan('r', narrowed)).body.data;
    await sync.call('PATCH', rulePath('r'), { metadata_match: narrowed.metadata_match, confirm }, owner);
    await workUntilGone('a/1', 'a/2');
    await setMetadata('a/2', { sync: 'test' });
    await workUntilGone('a/1');
    expect(await read('r')).toMatchObject({ path: '*', metadata_match: { sync: 'prod' }, associated: 1 });
    const other = (await rules().plan('r', { path: '*', metadata_match: { team: 'a' } })).body.data;
    const replaced = { metadata_match: { sync: null, team: 'a' }, confirm: other.fingerprint };
    await sync.call('PATCH', rulePath('r'), replaced, owner);
    expect((await read('r')).metadata_match).toEqual({ team: 'a' });
  });

  test('that nothing holds is held by the brake, if there are many', async () => {
    const names = Array.from({ length: 12 }, (_, n) => `s${n}`);
    for (const name of names) await at.write(name, { v: 1 });
    await accept('r', { path: '*' });
    await upToDate('r');
    await sync.work();
    await sync.call('DELETE', rulePath('r'));
    await eventually(async () => (await sync.call('GET', at.path)).body.data.removals_held === 12);
    expect((await associated()).length).toBe(12);
    await sync.call('POST', `${at.path}/confirm-removals`);
    await workUntilGone();
  });

  test('whose secret is deleted ends as any other one, and that of a new secret begins', async () => {
    await at.write('a', { v: 1 });
    await accept('r', { path: '*' });
    await upToDate('r');
    await sync.work();
    await sync.secrets('DELETE', `/${at.mount}/metadata/a`);
    await workUntilGone();
    await at.write('a', { v: 1 });
    await becomes('a');
  });
});

test('a write of a secret in a mount without a matching rule queues nothing', async () => {
  await accept('r', { path: 'a/*' });
  await upToDate('r');
  const other = await sync.fixture();
  await sync.db.query('create table secrets.seen as select * from secrets.outbox where false');
  await sync.db.query(
    `create function secrets.see() returns trigger language plpgsql as $$ begin insert into secrets.seen select new.*; return null; end $$`,
  );
  await sync.db.query(
    'create trigger see after insert on secrets.outbox for each row execute function secrets.see()',
  );
  await at.write('b/1', { v: 1 });
  await at.write('ab', { v: 1 });
  await other.write('a/1', { v: 1 });
  expect(await sync.db.query('select from secrets.seen')).toEqual([]);
  await at.write('a/1', { v: 1 });
  expect(await sync.db.query('select to_match from secrets.seen')).toEqual([{ to_match: true }]);
  await becomes('a/1');
});

test('a run waits for transactions that may not have seen the rule', async () => {
  let associatedBefore: string[] = [];
  await sync.db.transaction(async (tx) => {
    await tx.query('select pg_current_xact_id()');
    await at.write('a', { v: 1 });
    await accept('r', { path: 'a' });
    await eventually(async () => (await read('r')).state === 'running');
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    const rows = await tx.query<{ name: string }>('select secret_name as name from sync.associations');
    associatedBefore = rows.map(({ name }) => name);
  });
  expect(associatedBefore).toEqual([]);
  await becomes('a');
});

test.each<[object, RegExp]>([
  [{ path: '' }, /path: must not be empty/],
  [{ path: 'a*b' }, /path: must have \* only at its end/],
  [{ path: '*', exclude: ['a+b'] }, /exclude/],
  [
    { path: '*', metadata_match: Object.fromEntries(Array.from({ length: 17 }, (_, n) => [n, ''])) },
    /at most 16 keys/,
  ],
  [{ path: '*', exclude: Array.from({ length: 101 }, () => 'a') }, /exclude: must have at most 100 paths/],
  [{ path: 'a'.repeat(513) }, /path: must have at most 512 bytes/],
  [{ path: 'a//b' }, /path: must not begin or end with a slash or contain two in a row/],
  [{ path: '*', metadata_match: { k: 'v'.repeat(513) } }, /metadata_match/],
  [{ path: '*', mount: 'missing' }, /mount: no key-value store is mounted at missing/],
  [{}, /path is required/],
])('%j is refused', async (body, reason) => {
  const { status, body: answer } = await write('r', body);
  expect([status, answer.errors.join()]).toEqual([400, expect.stringMatching(reason)]);
});

test('rules of a destination are listed, and at most a thousand', async () => {
  expect((await sync.call('LIST', `${at.path}/rules`)).status).toBe(404);
  await accept('b', { path: 'none' });
  await accept('a', { path: 'none' });
  expect((await sync.call('LIST', `${at.path}/rules`)).body.data.keys).toEqual(['a', 'b']);
  await sync.db.query(
    `insert into sync.rules (id, destination_id, name, mount_id, mount, path, beginning, exclude, metadata_match, sealed_owner, due_at)
     select gen_random_uuid(), destination_id, 'x' || n, mount_id, mount, 'x', 'x', '{}', '{}', '\\x00', 'infinity'
       from sync.rules, generate_series(1, 998) as n where name = 'a'`,
  );
  const { status, body } = await write('c', { path: 'none' });
  expect([status, body.errors[0]]).toEqual([409, 'a destination has at most 1000 rules']);
  expect((await write('a', { path: 'other' })).status).toBe(200);
});

test('a destination without associations is not deleted while it has rules, except with a purge', async () => {
  await accept('a', { path: 'none' });
  await accept('b', { path: 'none' });
  const refused = await sync.call('DELETE', at.path);
  expect([refused.status, refused.body.errors]).toEqual([
    400,
    ['this destination still has rules: a, b; delete them first, or delete with purge=true'],
  ]);
  await sync.call('DELETE', rulePath('a'));
  expect((await sync.call('DELETE', at.path)).body.errors[0]).toContain('rules: b;');
  expect((await sync.call('DELETE', `${at.path}?purge=true`)).status).toBe(204);
  expect((await sync.call('GET', at.path)).status).toBe(404);
});

test('a rule whose mount is gone is refused with the name of the field, and can be given another one', async () => {
  await at.write('a', { v: 1 });
  await accept('r', { path: '*' });
  await upToDate('r');
  const other = await sync.fixture();
  await sync.secrets('DELETE', `/sys/mounts/${at.mount}`);
  const patch = (body: object) => sync.call('PATCH', rulePath('r'), body, owner);
  const refused = await patch({ path: 'b' });
  expect([refused.status, refused.body.errors[0]]).toEqual([
    400,
    `mount: no key-value store is mounted at ${at.mount}`,
  ]);
  // The association of the deleted secret ends meanwhile, and with it the plan that counts it.
  await eventually(async () => {
    const { fingerprint: confirm } = (await rules().plan('r', { path: '*', mount: other.mount })).body.data;
    return (await patch({ mount: other.mount, confirm })).status === 200;
  });
  expect(await read('r')).toMatchObject({ mount: other.mount });
});
