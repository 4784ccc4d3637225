import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { migrate } from '@secrets/db';
import { createTestDb } from '@secrets/db/testing';
import { schemas } from './index.ts';

test('an alias in upper case becomes that of the identity, one of several that differ in letter case', async () => {
  const before = mkdtempSync(join(tmpdir(), 'migrations-'));
  const earlier = readdirSync(schemas.login.folder).filter((file) => Number.parseInt(file, 10) < 16);
  for (const file of earlier) cpSync(join(schemas.login.folder, file), join(before, file));
  const db = await createTestDb();
  const insert = (name: string) =>
    db.query(
      `with entity as (insert into login.entities (namespace_id) values ('root') returning id)
       insert into login.entity_aliases (mount_id, name, entity_id)
       select m.id, $1, e.id from login.auth_mounts m, entity e`,
      [name],
    );
  try {
    await migrate(db, { ...schemas.login, folder: before });
    await db.query(
      "insert into login.auth_mounts (namespace_id, path, type, accessor) values ('root', 'm', 'cloudB', 'a')",
    );
    for (const name of ['ALONE', 'plain', 'twice', 'TWICE', 'Both', 'BOTH']) await insert(name);
    await migrate(db, schemas.login);
    expect(
      await db.query('select name, given_name as given from login.entity_aliases order by name collate "C"'),
    ).toEqual([
      { name: expect.stringMatching(/^Both|BOTH$/), given: null },
      { name: 'TWICE', given: null },
      { name: 'alone', given: 'ALONE' },
      { name: 'both', given: expect.stringMatching(/^Both|BOTH$/) },
      { name: 'plain', given: null },
      { name: 'twice', given: null },
    ]);
    await expect(insert('Plain')).rejects.toThrow(/duplicate key/);
  } finally {
    await db.close();
    rmSync(before, { recursive: true });
  }
});
