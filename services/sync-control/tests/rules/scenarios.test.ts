import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Caller } from '@secrets/caller';
import { testCaller } from '@secrets/http/testing';
import { eventually, type Fixture, useSyncControl } from '../sync-control-for-test.ts';
import { entityWith, mayEverything, type RulesForTest, rulesOf, writePolicy } from './rules-for-test.ts';

const sync = useSyncControl();
let at: Fixture;
let owner: Caller;
let rules: RulesForTest;

beforeEach(async () => {
  await sync.reset();
  at = await sync.fixture();
  owner = await mayEverything(sync);
  rules = rulesOf(sync, at, owner);
});

const associated = async (): Promise<string[]> => {
  const rows = await sync.db.query<{ name: string }>(
    'select secret_name as name from sync.associations where not removing order by 1',
  );
  return rows.map(({ name }) => name);
};
const becomes = (...names: string[]) => eventually(async () => (await associated()).join() === names.join());
/** Works until only these are associated, and nothing of the others is left. */
const workUntil = (...names: string[]) =>
  eventually(async () => {
    await sync.work();
    const rows = await sync.db.query<{ name: string }>(
      'select secret_name as name from sync.associations order by 1',
    );
    return rows.map(({ name }) => name).join() === names.join();
  });
const configure = (body: object) => sync.call('PATCH', '/sys/sync/config', body);
const runAgain = () => sync.db.query("update sync.rules set due_at = now() where phase <> 'ending'");

describe('a full queue', () => {
  test('refuses no write of a secret, and what a rule matches is associated when there is room', async () => {
    await rules.accept('r', { path: '*' });
    await rules.upToDate('r');
    await configure({ queue_capacity: 1 });
    await at.write('a', { v: 1 }); // throws unless the response is 200
    await becomes('a');
    await at.write('b', { v: 1 });
    await eventually(async () => (await rules.read('r')).refused === 1);
    expect((await rules.read('r')).refusals[0].reason).toContain('the sync queue is full');
    await sync.work();
    await sync.db.query('update sync.rule_refusals set due_at = now()');
    await becomes('a', 'b');
    expect(await rules.read('r')).toMatchObject({ refused: 0, associated: 2 });
  });

  test('does not keep a rule from letting associations go', async () => {
    await at.write('a', { v: 1 });
    await rules.accept('r', { path: '*' });
    await rules.upToDate('r');
    await sync.work();
    await configure({ queue_capacity: 1 });
    await sync.call('DELETE', rules.path('r'));
    await workUntil();
  });
});

test('while syncing is disabled, a rule associates, and nothing is given to a worker until it is enabled', async () => {
  await configure({ disabled: true });
  await at.write('a', { v: 1 });
  await rules.accept('r', { path: '*' });
  await rules.upToDate('r');
  await at.write('b', { v: 1 });
  await becomes('a', 'b');
  expect(await sync.claim()).toEqual([]);
  await configure({ disabled: false });
  expect(await sync.work()).toBe(2);
});

describe('a mount', () => {
  test('that is moved keeps its rules, which associate what is created under its new path', async () => {
    await at.write('a', { v: 1 });
    await rules.accept('r', { path: '*' });
    await rules.upToDate('r');
    const to = `kv-${randomUUID()}`;
    const moved = await sync.secrets('POST', '/sys/remount', { from: at.mount, to });
    expect(moved.status).toBe(200);
    await sync.secrets('POST', `/${to}/data/b`, { data: { v: 1 } });
    await becomes('a', 'b');
    expect(await rules.read('r')).toMatchObject({ mount: to, associated: 2 });
  });

  test('that is deleted ends what its rules hold, and a new one with its path is another mount', async () => {
    await at.write('a', { v: 1 });
    await rules.accept('r', { path: '*' });
    await rules.upToDate('r');
    await sync.work();
    await sync.secrets('DELETE', `/sys/mounts/${at.mount}`);
    await workUntil();
    await sync.secrets('POST', `/sys/mounts/${at.mount}`, { type: 'kv' });
    await at.write('a', { v: 1 });
    await runAgain();
    await eventually(async () => (await rules.read('r')).error === 'the mount no longer exists');
    expect(await associated()).toEqual([]);
    await rules.accept('r', { path: '*' }); // it is about the new mount now
    await becomes('a');
    expect((await rules.read('r')).error).toBeNull();
  });
});

test('a purge ends what rules hold, deletes the rules, and lets them associate nothing meanwhile', async () => {
  for (const name of ['a', 'b']) await at.write(name, { v: 1 });
  await rules.accept('r', { path: '*' });
  await rules.upToDate('r');
  await sync.work();
  await sync.call('DELETE', `${at.path}?purge=true`);
  await at.write('c', { v: 1 });
  await runAgain();
  const again = await rules.write('r', { path: '*' });
  expect([404, 409]).toContain(again.status);
  await workUntil();
  await eventually(async () => (await sync.call('GET', at.path)).status === 404);
  expect(await sync.db.query('select from sync.rules')).toEqual([]);
  expect(await sync.db.query('select from secrets.watched_patterns')).toEqual([]);
});

test('a rule of a namespace is about a mount of its namespace, whose path another one has as well', async () => {
  const id = `ns-${randomUUID().slice(0, 8)}`;
  await sync.db.query('insert into login.namespaces (id, path) values ($1, $1)', [id]);
  const namespace = { id, path: id };
  const inside: Caller = testCaller({ namespace, tokenNamespace: { id: 'root', path: '' } });
  await sync.secrets('POST', `/sys/mounts/${at.mount}`, { type: 'kv' }, inside);
  await sync.call('POST', at.path, {}, inside);
  const accessor = `accessor-${id}`;
  await sync.db.query(
    `insert into login.tokens (hash, accessor, namespace_id, policies, display_name, creation_path, renewable, ttl_seconds)
     values ($1, $2, 'root', '{root}', 'root', '', false, 0)`,
    [Buffer.from(accessor), accessor],
  );
  await rules.accept('r', { path: '*' }, { ...inside, accessor });
  await at.write('outside', { v: 1 });
  await sync.secrets('POST', `/${at.mount}/data/inside`, { data: { v: 1 } }, inside);
  await becomes('inside');
  expect(await sync.db.query('select distinct namespace_id as id from sync.associations')).toEqual([{ id }]);
});

test('an owner who loses the right associates nothing new, and what is new meanwhile when it is given back', async () => {
  const all = [{ path: '*', capabilities: ['read' as const, 'update' as const] }];
  const reader = await entityWith(sync, 'comes-and-goes', all);
  await at.write('a', { v: 1 });
  await rules.accept('r', { path: '*' }, reader);
  await rules.upToDate('r');
  await writePolicy(sync, 'comes-and-goes', [{ path: 'other/*', capabilities: ['read'] }]);
  await at.write('b', { v: 1 });
  await eventually(async () => (await rules.read('r')).refused === 1);
  await runAgain();
  expect(await rules.upToDate('r')).toMatchObject({ associated: 1, refused: 1 });
  await writePolicy(sync, 'comes-and-goes', all);
  await sync.db.query('update sync.rule_refusals set due_at = now()');
  await becomes('a', 'b');
});

test('the secret that replaces a deleted one under its path is not held by hand, as that one was', async () => {
  await rules.accept('r', { path: '*', metadata_match: {} });
  await rules.upToDate('r');
  await at.write('a', { v: 1 });
  await becomes('a');
  await at.set('a');
  // The events are followed in any order: here, that of the new secret comes first.
  await sync.db.query(
    `create or replace function secrets.hide() returns trigger language plpgsql as $$
     begin if not new.to_match then new.due_at := now() + interval '2 seconds'; end if; return new; end $$`,
  );
  await sync.db.query(
    'create trigger hide before insert on secrets.outbox for each row execute function secrets.hide()',
  );
  await sync.secrets('DELETE', `/${at.mount}/metadata/a`);
  await at.write('a', { v: 1 });
  const replaced = () =>
    sync.db.query<{ byHand: boolean }>(
      `select a.by_hand as "byHand" from sync.associations a join secrets.secrets s on s.id = a.secret_id where not a.removing`,
    );
  await eventually(async () => (await replaced()).length === 1).finally(() =>
    sync.db.query('drop trigger hide on secrets.outbox'),
  );
  expect(await replaced()).toEqual([{ byHand: false }]);
});
