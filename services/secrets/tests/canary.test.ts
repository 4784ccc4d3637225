import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type SecretsForTest, startSecretsForTest } from './secrets-for-test.ts';

let secrets: SecretsForTest;
beforeAll(async () => {
  secrets = await startSecretsForTest();
  await secrets.call('POST', '/sys/mounts/kv', { type: 'kv' });
});
afterAll(() => secrets.stop());

const canary = 'canary-7f3a9c';

test('no table contains a value or the name of a key, as text, hex or base64', async () => {
  await secrets.call('POST', '/kv/data/a', { data: { [`${canary}-key`]: canary } });
  await secrets.call('PATCH', '/kv/data/a', { data: { other: canary } });
  const body = { namespace_id: 'root', mount: 'kv', secret_name: 'a' };
  await secrets.callInternal('/internal/secrets/watch', body);
  await secrets.call('DELETE', '/kv/data/a');
  const dump = await dumpTables();
  expect(dump).toContain('kv'); // the dump is not empty
  for (const form of ['utf8', 'hex', 'base64'] as const) {
    const text = Buffer.from(canary).toString(form).replace(/=+$/, '');
    expect(dump).not.toContain(text);
  }
});

async function dumpTables(): Promise<string> {
  const tables = await secrets.db.query<{ name: string }>(
    "select tablename as name from pg_tables where schemaname = 'secrets'",
  );
  let dump = '';
  for (const { name } of tables) {
    const rows = await secrets.db.query<{ row: string }>(
      `select t::text || encode(t::text::bytea, 'hex') as row from secrets.${name} t`,
    );
    dump += rows.map(({ row }) => row).join('\n');
  }
  return dump;
}

test('a value that was moved to another row cannot be decrypted', async () => {
  await secrets.call('POST', '/kv/data/mine', { data: { a: 1 } });
  await secrets.call('POST', '/kv/data/theirs', { data: { a: canary } });
  await secrets.db.query(
    `update secrets.versions v set sealed = o.sealed, id = o.id
     from secrets.versions o
     where v.secret_id = (select id from secrets.secrets where path = 'mine')
       and o.secret_id = (select id from secrets.secrets where path = 'theirs')`,
  );
  const read = await secrets.call('GET', '/kv/data/mine');
  expect(read.status).toBe(500);
  expect(JSON.stringify(read.body)).not.toContain(canary);
});

test('a destroyed value is no longer stored', async () => {
  await secrets.call('POST', '/kv/data/destroyed', { data: { a: canary } });
  await secrets.call('POST', '/kv/destroy/destroyed', { versions: [1] });
  const rows = await secrets.db.query(
    `select v.sealed from secrets.versions v join secrets.secrets s on s.id = v.secret_id where s.path = 'destroyed'`,
  );
  expect(rows).toEqual([{ sealed: null }]);
});
