import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Sql } from '@secrets/db';
import type { DatabaseService } from '../src/database-roles.ts';
import { as, preparedDb } from './role-for-test.ts';

const holders: [DatabaseService, (sql: Sql, namespaceId: string) => Promise<unknown>][] = [
  [
    'secrets',
    (sql, id) =>
      sql.query(`insert into secrets.mounts (namespace_id, path, accessor) values ($1, 'kv', $2)`, [
        id,
        randomUUID(),
      ]),
  ],
  [
    'sync-control',
    (sql, id) =>
      sql.query(
        `insert into sync.destinations (namespace_id, namespace_path, type, name, settings)
         values ($1, $1, 'cloudA-sm', 'd', '{}')`,
        [id],
      ),
  ],
];

describe('a namespace that another service uses', () => {
  let db: Awaited<ReturnType<typeof preparedDb>>;
  beforeAll(async () => {
    db = await preparedDb();
  });
  afterAll(() => db.close());

  const createNamespace = async (): Promise<string> => {
    const id = randomUUID();
    await db.query('insert into login.namespaces (id, path) values ($1, $1)', [id]);
    return id;
  };
  const deleteNamespace = (id: string) =>
    as(db, 'login', (sql) => sql.query('delete from login.namespaces where id = $1', [id]));

  test.each(holders)(
    'cannot be deleted while %s uses it, and cannot be used after its deletion',
    async (service, create) => {
      const id = await createNamespace();
      await as(db, service, (sql) => create(sql, id));
      await expect(deleteNamespace(id)).rejects.toMatchObject({ code: '23503' });
      await db.query('update secrets.mounts set disabled_at = now() where namespace_id = $1', [id]);
      await db.query('delete from sync.destinations where namespace_id = $1', [id]);
      await deleteNamespace(id);
      await expect(as(db, service, (sql) => create(sql, id))).rejects.toMatchObject({ code: '23503' });
    },
  );

  test.each(holders)(
    'is either deleted or used by %s, if both are requested at once',
    async (service, create) => {
      for (let round = 0; round < 5; round += 1) {
        const id = await createNamespace();
        const both = await Promise.allSettled([
          as(db, service, (sql) => create(sql, id)),
          deleteNamespace(id),
        ]);
        expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      }
    },
  );
});
