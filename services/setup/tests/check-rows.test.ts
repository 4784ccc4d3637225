import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { readStoredContent, readStoredTokens, rowGuard } from '@secrets/access';
import { insertToken, writePolicy } from '@secrets/access/testing';
import { openTestDb } from '@secrets/schemas/testing';
import { parseKeyRing } from '@secrets/seal';
import { bindRows, checkRows, type ListedRow } from '../src/database/check-rows.ts';

const rowKeys = parseKeyRing(
  ['r2', 'r1'].map((id) => `${id}:${randomBytes(32).toString('base64')} bound`).join('\n'),
  'test',
);
const [newer, older] = rowKeys.keys.map((key) => rowGuard({ ...rowKeys, current: key }));

let db: Awaited<ReturnType<typeof openTestDb>>;
beforeAll(async () => {
  db = await openTestDb();
});
afterAll(() => db.close());

/** Stores a token, bound by the key of a guard. */
async function storeToken(guard = newer!): Promise<string> {
  const { accessor } = await insertToken(db, { policies: ['dev'] });
  const stored = (await readStoredTokens(db, [], 100)).find(({ row }) => row.name === accessor);
  await db.query('update login.tokens set row_hash = $2 where accessor = $1', [
    accessor,
    guard.hashOf(stored!.row),
  ]);
  return accessor;
}

const check = async (listedKey?: string) => {
  const listed: ListedRow[] = [];
  const onListed = (row: ListedRow) => void listed.push(row);
  return { ...(await checkRows(db, rowKeys, { listedKey, onListed, pageSize: 1 })), listed };
};

test('the check lists rows without a hash, those that were changed, and those of a key, and counts all of them', async () => {
  const [, changed, ofOlder] = [await storeToken(), await storeToken(), await storeToken(older)];
  await db.query(`update login.tokens set policies = '{root}' where accessor = $1`, [changed]);
  const { accessor: old } = await insertToken(db);
  const content = (policies: string[]) => ({ display_name: 'test', policies });
  const table = 'login.tokens';
  const { listed, ...counts } = await check('r1');
  expect(counts).toMatchObject({ noHash: 1, changed: 1, keys: { r1: 1, r2: 1 } });
  const expected = [
    { table, name: changed, state: 'not as login has written it', content: content(['root']) },
    { table, name: ofOlder, state: 'bound', content: content(['dev']) },
    { table, name: old, state: 'no hash', content: content(['root']) },
  ];
  const byName = (rows: { name: string }[]) => rows.toSorted((a, b) => a.name.localeCompare(b.name));
  expect(byName(listed)).toEqual(byName(expected));
  expect((await check()).listed).toHaveLength(2);
});

describe('binding the policies of an earlier version', () => {
  const isBound = async () =>
    (await readStoredContent(db, 'login.policies', [], 100)).map(
      ({ row, rowHash }) => rowHash !== null && newer!.accepts(row, rowHash),
    );
  beforeEach(async () => {
    await db.query('delete from login.policies');
    for (const name of ['a', 'b', 'c']) await writePolicy(db, name, { [`kv/${name}`]: ['read'] });
  });

  test('stores the hashes of those that were listed', async () => {
    const { digest, listed } = await check();
    const policies = listed.filter(({ table }) => table === 'login.policies');
    expect(policies.map(({ name, state, content }) => [name, state, content])).toEqual(
      ['a', 'b', 'c'].map((name) => [
        `root/${name}`,
        'no hash',
        { paths: [{ path: `kv/${name}`, capabilities: ['read'] }] },
      ]),
    );
    expect(await bindRows(db, rowKeys, digest, 1)).toBe(3);
    expect(await isBound()).toEqual([true, true, true]);
    expect((await check()).listed.filter(({ table }) => table === 'login.policies')).toEqual([]);
  });

  test.each([
    ['changed', `update login.policies set rules = '{"paths": []}' where name = 'b'`],
    [
      'added',
      `insert into login.policies (namespace_id, name, source, rules) values ('root', 'd', '', '{}')`,
    ],
    ['removed', `delete from login.policies where name = 'c'`],
  ])('stores nothing if one was %s since', async (_how, statement) => {
    const { digest } = await check();
    await db.query(statement);
    await expect(bindRows(db, rowKeys, digest)).rejects.toThrow('not those that were listed');
    expect(new Set(await isBound())).toEqual(new Set([false]));
  });
});
