import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Sql } from '@secrets/db';
import { as, preparedDb } from './role-for-test.ts';

const inUse = { code: '23505', constraint: 'names_of_mounts_and_namespaces' };

const mount = (sql: Sql, namespaceId: string, path: string) =>
  sql.query('insert into secrets.mounts (namespace_id, path, accessor) values ($1, $2, $3)', [
    namespaceId,
    path,
    randomUUID(),
  ]);
const namespace = (sql: Sql, path: string) =>
  sql.query('insert into login.namespaces (id, path) values ($1, $1)', [path]);

describe('a mount and a namespace never have the same name', () => {
  let db: Awaited<ReturnType<typeof preparedDb>>;
  beforeAll(async () => {
    db = await preparedDb();
    await namespace(db, 'team');
  });
  afterAll(() => db.close());

  const createMount = (namespaceId: string, path: string) =>
    as(db, 'secrets', (sql) => mount(sql, namespaceId, path));
  const createNamespace = (path: string) => as(db, 'login', (sql) => namespace(sql, path));

  test.each([
    ['root', 'a1', 'a1'],
    ['root', 'a2/b', 'a2'],
    ['team', 'a3/b/c', 'team/a3'],
  ])('a namespace is refused if a mount in %s has the path %s', async (where, path, name) => {
    await createMount(where, path);
    await expect(createNamespace(name)).rejects.toMatchObject(inUse);
    await db.query('update secrets.mounts set disabled_at = now() where namespace_id = $1 and path = $2', [
      where,
      path,
    ]);
    await createNamespace(name);
  });

  test.each([
    ['b1', 'root', 'b1'],
    ['b2', 'root', 'b2/c'],
    ['team/b3', 'team', 'b3/c/d'],
  ])(
    'if there is a namespace %s, a mount in %s cannot have the path %s, nor be moved there',
    async (name, where, path) => {
      await createNamespace(name);
      await expect(createMount(where, path)).rejects.toMatchObject(inUse);
      await createMount(where, `free-${name.replace('/', '-')}`);
      const move = as(db, 'secrets', (sql) =>
        sql.query('update secrets.mounts set path = $1 where path = $2', [
          path,
          `free-${name.replace('/', '-')}`,
        ]),
      );
      await expect(move).rejects.toMatchObject(inUse);
    },
  );

  test('similar names, and the same name in another namespace, are accepted', async () => {
    await createNamespace('c');
    for (const path of ['c1', 'cc/c', 'd/c']) await createMount('root', path);
    await createMount('team', 'c');
    await createNamespace('team/cc');
  });

  test.each([
    ['at', ''],
    ['below', '/kv'],
  ])(
    'if a mount %s a name and a namespace are requested at once, one of them is refused',
    async (_where, below) => {
      for (let round = 0; round < 10; round += 1) {
        const name = `both${below.length}${round}`;
        const both = await Promise.allSettled([createMount('root', name + below), createNamespace(name)]);
        expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      }
    },
  );
});
