import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import type { Caller } from '@secrets/caller';
import type { Db } from '@secrets/db';
import { isLongRun } from '../../../../tests/harness/run-size.ts';
import { sweepTokens } from '../../src/tokens/sweep-tokens.ts';
import { anonymous, audience, createIn, oid, useCloudB } from '../login-for-test.ts';

const { cloudB, login } = useCloudB({ rowsAreBound: false });
const create = createIn(login);

/** Tokens of one mount: more than any statement may read. */
const issued = isLongRun ? 100_000 : 20_000;

/** Inserts tokens whose texts are `sst_`, a letter and a number. */
async function insertTokens(
  letter: string,
  count: number,
  { parent = 'null', mountId = null as string | null, namespaceId = 'root', entityOf = 'null' } = {},
): Promise<void> {
  const page = 10_000; // each statement has a time limit
  for (let first = 1; first <= count; first += page)
    await login.db.query(
      `insert into login.tokens (hash, accessor, parent_accessor, mount_id, namespace_id, display_name, creation_path, policies, renewable,
       ttl_seconds, expires_at, entity_id)
     select sha256(convert_to('sst_' || lpad($1 || n, 43, '0'), 'UTF8')), $1 || n, ${parent}, $3::uuid, $4, 'test', '', '{default}', true, 3600,
       now() + interval '1 h', ${entityOf}
     from generate_series($5::int, $2::int) n`,
      [letter, Math.min(count, first + page - 1), mountId, namespaceId, first],
    );
}
const textOf = (letter: string, n: number) => `sst_${`${letter}${n}`.padStart(43, '0')}`;
const countOf = async (where: string) =>
  (
    await login.db.query<{ count: number }>(`select count(*)::int as count from login.tokens where ${where}`)
  )[0]!.count;
const accepted = (...tokens: string[]) => Promise.all(tokens.map((token) => login.isAccepted(token)));
const mountIdOf = async (path: string) =>
  (await login.db.query<{ id: string }>('select id from login.auth_mounts where path = $1', [path]))[0]!.id;

/** A database that fails after some transactions, as if the process had been killed there. */
function dyingDb(db: Db, transactions: number): Db {
  let left = transactions;
  return {
    ...db,
    transaction: async (work, options) => {
      if (left-- === 0) throw new Error('killed');
      return db.transaction(work, options);
    },
  };
}

/** Returns whether the sweep ended before that many transactions. */
const sweepUntilKilled = (transactions: number): Promise<boolean> =>
  sweepTokens({ ...login, db: dyingDb(login.db, transactions) }).then(
    () => true,
    (error: Error) => {
      expect(error.message).toBe('killed');
      return false;
    },
  );

test('revoking a token changes one row, and refuses 10,000 children and their children at once', async () => {
  const parent = await create({ policies: 'default' });
  const { accessor, client_token: token } = parent.body.auth;
  const batch = (await create({ type: 'batch', ttl: '1h' }, login.callerOf(parent))).body.auth.client_token;
  await insertTokens('c', 10_000, { parent: `'${accessor}'` });
  await insertTokens('g', 1_000, { parent: `'c' || n` });
  await insertTokens('h', 1_000, { parent: `'g' || n` });
  const all = [token, batch, textOf('c', 1), textOf('c', 10_000), textOf('g', 1_000), textOf('h', 1)];
  expect(await accepted(...all)).toEqual(all.map(() => true));
  const before = await countOf('true');
  expect((await login.call('POST', '/auth/token/revoke', { token })).status).toBe(204);
  expect(await accepted(...all)).toEqual(all.map(() => false));
  expect(await countOf('true')).toBe(before);
  expect((await login.call('POST', '/auth/token/lookup', { token: textOf('h', 1) })).status).toBe(404);

  // Whether a page deletes tokens or only takes children from the parent depends on its random accessor.
  let deaths = 0;
  while (!(await sweepUntilKilled(5))) {
    deaths++;
    expect(await accepted(...all)).toEqual(all.map(() => false));
  }
  expect(deaths).toBeGreaterThanOrEqual(4);
  expect(await countOf('true')).toBe(before - 12_001);
});

test('revoking one token alone changes one row; its 2,000 children are orphans at once', async () => {
  const parent = await create({ policies: 'default' });
  const { accessor, client_token: token } = parent.body.auth;
  await insertTokens('o', 2_000, { parent: `'${accessor}'` });
  await login.call('POST', '/auth/token/revoke-orphan', { token });
  const orphan = async () =>
    (await login.call('POST', '/auth/token/lookup', { token: textOf('o', 7) })).body.data.orphan;
  expect(await accepted(token, textOf('o', 7))).toEqual([false, true]);
  expect(await countOf(`parent_accessor = '${accessor}'`)).toBe(2_000);
  expect(await orphan()).toBe(true);
  await sweepTokens(login);
  expect(await countOf(`accessor ~ '^o[0-9]+$' and parent_accessor is null`)).toBe(2_000);
  expect(await accepted(textOf('o', 7))).toEqual([true]);
  expect(await orphan()).toBe(true);
});

test('the sweep does not delete a token of which the parent was revoked alone, even if it is interrupted', async () => {
  const parent = await create({ policies: 'default' });
  const { accessor, client_token: token } = parent.body.auth;
  await insertTokens('p', 1_200, { parent: `'${accessor}'` });
  await login.call('POST', '/auth/token/revoke-orphan', { token });
  await expect(sweepTokens({ ...login, db: dyingDb(login.db, 1) })).rejects.toThrow('killed');
  await sweepTokens(login);
  expect(await countOf(`accessor ~ '^p[0-9]+$'`)).toBe(1_200);
});

test(`disabling a mount that issued ${issued} tokens refuses them at once, and frees its path`, async () => {
  const enable = async () => {
    await login.call('POST', '/sys/auth/big', { type: 'cloudB' });
    const config = { tenant_id: cloudB.sandbox.tenantId, resource: audience };
    await login.call('POST', '/auth/big/config', config);
  };
  const logIn = async (role: string) =>
    login.call('POST', '/auth/big/login', { role, jwt: await cloudB.issueJwt() }, anonymous);
  await enable();
  await login.call('POST', '/auth/big/role/r', { bound_service_principal_ids: oid });
  await login.call('POST', '/auth/big/role/b', { bound_service_principal_ids: oid, token_type: 'batch' });
  const { auth } = (await logIn('r')).body;
  const batch = (await logIn('b')).body.auth.client_token;
  const mountId = await mountIdOf('big');
  await login.db.query(
    `with alias as (insert into login.entity_aliases (mount_id, name, entity_id)
       select $1::uuid, n::text, md5(n::text)::uuid from generate_series(1, 3000) n returning entity_id)
     insert into login.entities (id, namespace_id) select entity_id, 'root' from alias`,
    [mountId],
  );
  await insertTokens('m', issued, { mountId, entityOf: `md5((n % 3000 + 1)::text)::uuid` });
  await insertTokens('n', 1_000, { parent: `'m' || n` });
  const child: Caller = login.callerOf({ body: { auth } } as never);
  const childBatch = (await create({ type: 'batch', ttl: 60 }, child)).body.auth.client_token;
  const all = [auth.client_token, batch, childBatch, textOf('m', 1), textOf('m', issued), textOf('n', 1_000)];
  expect(await accepted(...all)).toEqual(all.map(() => true));
  const before = await countOf('true');
  expect((await login.call('DELETE', '/sys/auth/big')).status).toBe(204);
  expect(await accepted(...all)).toEqual(all.map(() => false));
  expect(await countOf('true')).toBe(before);

  expect((await logIn('r')).status).toBe(404);
  expect((await login.call('POST', '/sys/auth/big', { type: 'cloudB' })).status).toBe(204);
  expect((await logIn('r')).body.errors).toEqual(['this auth mount is not configured']);
  await enable();
  expect((await logIn('r')).body.errors).toEqual(['role: does not exist']);
  await login.call('POST', '/auth/big/role/r', { bound_service_principal_ids: oid });
  const again = (await logIn('r')).body.auth;
  expect(again.entity_id).not.toBe(auth.entity_id);

  await expect(sweepTokens({ ...login, db: dyingDb(login.db, 30) })).rejects.toThrow('killed');
  expect(login.logged()).toContain('deleting tokens of a removed owner');
  await sweepTokens(login);
  expect(login.logged()).toMatch(/"entities":3001.*tokens and entities of a removed owner deleted/);
  expect(await countOf('true')).toBe(before - (issued + 1_001) + 1);
  expect(await accepted(...all, again.client_token)).toEqual([...all.map(() => false), true]);
  const left = await login.db.query('select entity_id from login.entity_aliases where mount_id = $1', [
    mountId,
  ]);
  expect(left).toEqual([]);
  expect(await login.db.query('select id from login.removed_owners')).toEqual([]);
});

test('deleting a namespace refuses its tokens at once, and a new one of that path does not have them', async () => {
  const { id } = (await login.call('POST', '/sys/namespaces/crowd')).body.data;
  await insertTokens('s', 5_000, { namespaceId: id });
  const accept = () => Promise.all([1, 5_000].map((n) => login.isAccepted(textOf('s', n), 'crowd')));
  expect(await accept()).toEqual([true, true]);
  expect((await login.call('DELETE', '/sys/namespaces/crowd')).status).toBe(200);
  expect(await accept()).toEqual([false, false]);
  expect(await countOf(`namespace_id = '${id}'`)).toBe(5_000);
  await login.call('POST', '/sys/namespaces/crowd');
  expect(await accept()).toEqual([false, false]);
  await sweepTokens(login);
  expect(await countOf(`namespace_id = '${id}'`)).toBe(0);
  expect(await login.db.query('select id from login.removed_owners')).toEqual([]);
});

test.each(['auth mount', 'namespace'] as const)(
  'the sweep does not forget a removed %s while another process that may die holds its tokens',
  async (kind) => {
    const id = kind === 'auth mount' ? randomUUID() : 'gone';
    const of = kind === 'auth mount' ? { mountId: id } : { namespaceId: id };
    const letter = kind === 'auth mount' ? 'x' : 'y';
    await insertTokens(letter, 3, of);
    await login.db.query('insert into login.removed_owners (id, kind) values ($1, $2)', [id, kind]);
    const [locked, death] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const other = login.db.transaction(async (tx) => {
      await tx.query(`select 1 from login.tokens where accessor ~ '^${letter}[1-3]$' for update`);
      locked.resolve();
      await death.promise;
    });
    await locked.promise;
    await sweepTokens(login);
    death.reject(new Error('killed'));
    await expect(other).rejects.toThrow('killed');
    await sweepTokens(login);
    expect(await countOf(`accessor ~ '^${letter}[1-3]$'`)).toBe(0);
    expect(await login.db.query('select id from login.removed_owners')).toEqual([]);
  },
);

test('no token is added to a namespace that was deleted', async () => {
  const { id } = (await login.call('POST', '/sys/namespaces/brief')).body.data;
  await login.call('DELETE', '/sys/namespaces/brief');
  const caller = { ...login.root, namespace: { id, path: 'brief' } };
  const { status } = await login.call('POST', '/auth/token/create', { policies: 'default' }, caller);
  expect(status).toBe(403);
});

test('tokens are created from each other in at most 64 generations', async () => {
  let newest = await create({ policies: 'default' });
  for (let generation = 2; generation < 64; generation++) newest = await create({}, login.callerOf(newest));
  const refused = await login.call('POST', '/auth/token/create', {}, login.callerOf(newest));
  expect([refused.status, refused.body.errors]).toEqual([
    400,
    ['tokens can be created from each other in at most 64 generations'],
  ]);
});
