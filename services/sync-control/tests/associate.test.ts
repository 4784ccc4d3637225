import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Db, migrate } from '@secrets/db';
import { openTestDb } from '@secrets/db/testing';
import { testCaller } from '@secrets/http/testing';
import { silentLogger } from '@secrets/telemetry';
import { associate } from '../src/associate.ts';
import type { Context } from '../src/context.ts';
import { followSecret } from '../src/on-secret-change.ts';
import type { WatchedSecret } from '../src/secrets-client.ts';

const folder = (service: string) => new URL(`../../${service}/migrations`, import.meta.url).pathname;

let db: Db;
beforeAll(async () => {
  db = await openTestDb();
  for (const [schema, service] of Object.entries({
    login: 'login',
    secrets: 'secrets',
    sync: 'sync-control',
  }))
    await migrate(db, { schema, folder: folder(service) });
  await db.query(
    `insert into sync.destinations (namespace_id, namespace_path, type, name, settings)
     values ('root', '', 'cloudA-sm', 'd', $1)`,
    [
      JSON.stringify({
        granularity: 'secret-key',
        secret_name_template: '{{ .SecretPath }}/{{ .SecretKey }}',
      }),
    ],
  );
});
afterAll(() => db.close());

const ids = { mount_id: randomUUID(), secret_id: randomUUID() };
const secretAt = (revision: number, keys: string[]): WatchedSecret => ({
  ...ids,
  exists: true,
  folder: false,
  readable: true,
  accessor: 'kv_1',
  mount_path: 'kv',
  revision,
  keys,
});

/** What is looked up, look after look. */
function contextSeeing(...looks: WatchedSecret[]): Context {
  const unused = () => Promise.reject(new Error('not used here'));
  return {
    db,
    ring: undefined as never,
    secrets: {
      watch: async () => looks.shift() ?? unused(),
      accessorOf: unused,
      inspect: unused,
      close: async () => undefined,
    },
    policies: { capabilitiesOn: async () => ['read'] },
    queue: {
      room: { assertRoom: async () => undefined },
      nudge: () => undefined,
      outcome: async () => undefined,
    },
    prefix: 'secrets',
  };
}

const wanted = () =>
  db.query('select sub_key as key, desired from sync.entries order by sub_key').then((rows) => rows);
const wish = { type: 'cloudA-sm', name: 'd', mount: 'kv', secretName: 's', overwrite: false };

test('a set whose look at the secret was overtaken by a change looks again, and drops no key that came meanwhile', async () => {
  const [early, late] = [secretAt(1, ['a']), secretAt(2, ['a', 'b'])];
  await associate(contextSeeing(early), testCaller(), wish, 0);
  await followSecret(
    { context: contextSeeing(), log: silentLogger() },
    { ...late, secret_id: ids.secret_id },
  );
  await associate(contextSeeing(early, late), testCaller(), wish, 0);
  expect(await wanted()).toEqual([
    { key: 'a', desired: 'present' },
    { key: 'b', desired: 'present' },
  ]);
});
