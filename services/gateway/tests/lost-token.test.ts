import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createAuthenticator } from '@secrets/access';
import { type Db, openPostgres } from '@secrets/db';
import { type ServerPair, startServerPair } from '@secrets/db/standby-testing';
import { testKeys } from '@secrets/http/testing';
import { schemas } from '@secrets/schemas';
import { eventually } from '@secrets/testing';
import { insertToken } from '../../../libs/access/src/testing.ts';
import { migrate } from '../../../libs/db/src/migrations/migrate.ts';

let folder: string;
let pair: ServerPair;
let db: Db;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pair-'));
  pair = await startServerPair({ folder });
  db = openPostgres({ url: pair.url });
  await migrate(db, schemas.login);
});
afterAll(async () => {
  await db?.close();
  await pair?.close();
  rmSync(folder, { recursive: true });
});

test('a token whose creation was lost in a failover is refused, although that is no change of access', async () => {
  const gateway = createAuthenticator({ db, keys: testKeys() });
  const decide = (token: string) =>
    gateway.authenticate({
      ...{ token, namespace: undefined, operation: 'read', path: 'auth/token/lookup-self' },
      ...{ remoteAddress: '127.0.0.1', requestId: 'r' },
    });
  const { token: kept } = await insertToken(db);
  pair.holdReplication();
  const { token: lost } = await db.transaction(async (tx) => {
    await tx.query('set local synchronous_commit = local'); // as with a standby that follows asynchronously
    return insertToken(tx);
  });
  for (const token of [kept, lost]) expect((await decide(token)).allowed).toBe(true);
  await pair.primary.stop('SIGKILL');
  pair.switchAddress();
  await pair.promote();
  await eventually(async () => expect((await decide(kept)).allowed).toBe(true));
  expect(await decide(lost)).toMatchObject({ allowed: false, problem: { kind: 'forbidden' } });
});
