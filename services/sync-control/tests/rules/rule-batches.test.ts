import { randomUUID } from 'node:crypto';
import { beforeEach, expect, test } from '@jest/globals';
import { writePolicy } from '@secrets/access/testing';
import type { Caller } from '@secrets/caller';
import { testCaller } from '@secrets/http/testing';
import { eventually, type Fixture, useSyncControl } from '../sync-control-for-test.ts';

const sync = useSyncControl();
let at: Fixture;
let owner: Caller;

beforeEach(async () => {
  await sync.reset();
  at = await sync.fixture();
  await writePolicy(sync.db, 'all', { '*': ['create', 'read', 'update', 'delete'] });
  const entityId = randomUUID();
  await sync.db.query(
    "insert into login.entities (id, namespace_id, name, policies) values ($1, 'root', $2, '{all}')",
    [entityId, `e-${entityId}`],
  );
  owner = testCaller({ entityId, grants: ['create', 'read', 'update', 'delete'] });
});

const pathOf = (n: number) => `p/${String(n).padStart(4, '0')}`;
async function writeSecrets(count: number, { mount, write }: Pick<Fixture, 'mount' | 'write'> = at) {
  await write(pathOf(0), { v: 1 });
  for (let start = 1; start < count; start += 20)
    await Promise.all(
      Array.from({ length: Math.min(20, count - start) }, (_, n) => write(pathOf(start + n), { v: 1 })),
    );
  return mount;
}

const accept = async (name: string, body: object) => {
  const answer = await sync.call('POST', `${at.path}/rules/${name}`, { mount: at.mount, ...body }, owner);
  expect([answer.status, answer.body.errors]).toEqual([200, undefined]);
};
const read = async (name: string) => (await sync.call('GET', `${at.path}/rules/${name}`)).body.data;
const upToDate = async (name: string) => {
  await eventually(async () => (await read(name)).state === 'up_to_date', 180); // other tests may have long transactions
  return read(name);
};
const count = async (from: string): Promise<number> => {
  const [row] = await sync.db.query<{ count: number }>(`select count(*) as count from ${from}`);
  return row!.count;
};

test('a rule associates a hundred secrets in one transaction, with entries that are due and holds', async () => {
  await writeSecrets(250);
  await accept('r', { path: 'p/*' });
  expect(await upToDate('r')).toMatchObject({ matched: 250, associated: 250, refused: 0 });
  expect(await count('(select distinct xmin::text from sync.associations) as t')).toBe(3);
  expect(await count("sync.entries where status = 'PENDING' and priority = 0")).toBe(250);
  const [row] = await sync.db.query(
    `select count(*) as count from sync.associations a join sync.rule_holds h on h.association_id = a.id
       join secrets.secrets s on s.id = a.secret_id and s.path = a.secret_name and s.watched and s.revision = a.planned_revision
      where not a.by_hand and a.granularity = 'secret-path'`,
  );
  expect(row).toEqual({ count: 250 });
});

test('secrets of one page that want the same name collide: the first one has it', async () => {
  const named = { secret_name_template: 'n-{{ .SecretBaseName }}' };
  at = { ...(await sync.fixture(named)), mount: at.mount, write: at.write };
  for (const name of ['a/db', 'a/web', 'b/db', 'c/other']) await at.write(name, { v: 1 });
  await accept('r', { path: '*' });
  expect(await upToDate('r')).toMatchObject({
    associated: 3,
    refusals: [
      {
        secret_name: 'b/db',
        reason: `the external name n-db is taken in this destination by ${at.mount}/a/db, as n-db`,
      },
    ],
  });
});

test('a page that fails in the middle keeps what was associated, and continues', async () => {
  await writeSecrets(150);
  await sync.db.query(`create function sync.break_page() returns trigger language plpgsql as
    $$ begin if new.secret_name = '${pathOf(120)}' then raise 'broken'; end if; return new; end $$`);
  await sync.db.query(
    'create trigger break_page before insert on sync.associations for each row execute function sync.break_page()',
  );
  await accept('r', { path: 'p/*' });
  await eventually(async () => (await read('r')).error !== null, 180);
  expect(await count('sync.associations')).toBe(100);
  await sync.db.query('drop function sync.break_page() cascade');
  await sync.db.query("update sync.rules set due_at = now() where phase = 'matching'");
  expect(await upToDate('r')).toMatchObject({ matched: 150, associated: 150, error: null });
  expect(await count('sync.entries')).toBe(150);
  expect(await count('(select distinct xmin::text from sync.associations) as t')).toBe(2);
});

test('a full queue ends the page where it is full, and the rule continues when there is room', async () => {
  await writeSecrets(130);
  await sync.db.query('update sync.config set queue_capacity = 105');
  await accept('r', { path: 'p/*' });
  await eventually(async () => (await read('r')).error !== null, 180);
  expect((await read('r')).error).toContain('the sync queue is full');
  expect(await count('sync.entries')).toBe(105);
  expect(await read('r')).toMatchObject({ matched: 105, refused: 0 });
  await sync.db.query('update sync.config set queue_capacity = default');
  expect(await upToDate('r')).toMatchObject({ matched: 130, associated: 130, refused: 0, error: null });
});

test('a rule holds what is associated already, by hand or by another rule, without a push', async () => {
  await at.push('p/1', 'p/2', 'p/3');
  await at.write('p/4', { v: 1 });
  await accept('one', { path: 'p/1' });
  await upToDate('one');
  await accept('two', { path: 'p/*' });
  expect(await upToDate('two')).toMatchObject({ associated: 4 });
  expect(await count("sync.entries where status = 'PENDING'")).toBe(1);
  expect(await count('sync.associations where by_hand')).toBe(3);
});

test('an association that ends is set again, and its neighbours are not affected', async () => {
  await at.push('p/1', 'p/2');
  await at.write('p/3', { v: 1 });
  await at.remove('p/1');
  await accept('r', { path: 'p/*' });
  expect(await upToDate('r')).toMatchObject({ associated: 3, refused: 0 });
  expect(await count('sync.associations where removing')).toBe(0);
});

test('at secret-key granularity, the keys of each secret are read, and bad ones refuse their secret alone', async () => {
  at = { ...(await sync.fixture({ granularity: 'secret-key' })), mount: at.mount, write: at.write };
  await at.write('p/1', { a: 1, b: 2 });
  await at.write('p/2', { '': 1 });
  await at.write('p/3', { c: 3 });
  await accept('r', { path: 'p/*' });
  expect(await upToDate('r')).toMatchObject({
    associated: 2,
    refusals: [{ secret_name: 'p/2', reason: expect.stringContaining('a key that is the empty string') }],
  });
  expect(await sync.db.query('select sub_key as key from sync.entries order by 1')).toEqual(
    ['a', 'b', 'c'].map((key) => ({ key })),
  );
});

test('a value that cannot be opened refuses its secret alone where keys are needed', async () => {
  at = { ...(await sync.fixture({ granularity: 'secret-key' })), mount: at.mount, write: at.write };
  await at.write('p/1', { a: 1 });
  await at.write('p/2', { b: 1 });
  await sync.db.query(
    "update secrets.versions set sealed = '\\x00' where secret_id = (select id from secrets.secrets where path = 'p/1' order by created_at desc limit 1)",
  );
  await accept('r', { path: 'p/*' });
  expect(await upToDate('r')).toMatchObject({
    associated: 1,
    refusals: [{ secret_name: 'p/1', reason: expect.stringContaining('cannot be read') }],
  });
});
