import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { tokenHash } from '@secrets/access';
import { type Db, openPostgres } from '@secrets/db';
import { Problem } from '@secrets/domain';
import { insertLoginTokens, type LoginToken } from '../../src/queries/tokens/batched-login-tokens.ts';
import { insertLoginToken, type LoginIdentity } from '../../src/queries/tokens/login-tokens.ts';
import { storingLoginTokens } from '../../src/tokens/store-login-token.ts';
import { type LoginForTest, startLoginForTest } from '../login-for-test.ts';

let login: LoginForTest;
let mountId: string;
const groups = ['g1', 'g2'];
const issuedAt = 1_700_000_000;
const large = ['large1', 'large2', 'large3'];

beforeAll(async () => {
  login = await startLoginForTest();
  mountId = await newMount('cloudB');
  const rules = Array.from({ length: 200 }, (_, at) => `path "+/${at}" { capabilities = ["read"] }`);
  for (const name of large)
    expect((await login.call('POST', `/sys/policies/acl/${name}`, { policy: rules.join('\n') })).status).toBe(
      204,
    );
});
afterAll(() => login.stop());

async function newMount(path: string): Promise<string> {
  await login.call('POST', `/sys/auth/${path}`, { type: 'cloudB' });
  const [row] = await login.db.query<{ id: string }>('select id from login.auth_mounts where path = $1', [
    path,
  ]);
  return row!.id;
}

const loginOf = (alias: string, over: Partial<LoginIdentity> = {}, policies = ['dev']): LoginToken => ({
  identity: { mountId, alias, groups, issuedAt, source: { role: 'web', note: '\'\\ "' }, ...over },
  token: {
    hash: tokenHash(randomUUID()),
    accessor: randomUUID(),
    parentAccessor: null,
    namespaceId: 'root',
    displayName: `cloudB-${alias}`,
    creationPath: 'auth/cloudB/login',
    policies,
    metadata: { role: 'web', quoted: '"\'\\' },
    boundCidrs: ['10.0.0.0/8'],
    renewable: true,
    lifetime: {
      ttlSeconds: 3_600,
      periodSeconds: 60,
      explicitMaxTtlSeconds: 7_200,
      expiresAt: new Date(Date.now() + 3_600_000),
      maxExpiresAt: new Date(Date.now() + 7_200_000),
    },
    uses: 5,
    roleName: 'r',
    rowHash: 'r1:hash',
  },
});

const storeAlone = ({ token, identity }: LoginToken) => insertLoginToken(login.db, token, identity);
const store = async (one: LoginToken) => (await insertLoginTokens(login.db, [one]))[0];
const stored = async ({ token }: LoginToken) =>
  (
    await login.db.query<Record<string, unknown>>('select * from login.tokens where hash = $1', [token.hash])
  )[0];

/** An identity that has logged in before. */
async function known(over: Partial<LoginIdentity> = {}): Promise<string> {
  const alias = randomUUID();
  await storeAlone(loginOf(alias, over));
  return alias;
}

describe('a batch of logins', () => {
  test('stores the same as one login alone', async () => {
    const alias = await known();
    const [alone, batched] = [loginOf(alias), loginOf(alias)];
    batched.token.lifetime = alone.token.lifetime;
    expect(await store(batched)).toEqual(await storeAlone(alone));
    const own = { hash: null, accessor: null, created_at: null };
    expect({ ...(await stored(batched)), ...own }).toEqual({ ...(await stored(alone)), ...own });
  });

  test('returns the owner of each in the order of the logins', async () => {
    const aliases = [await known(), await known(), await known()];
    const owners = await insertLoginTokens(
      login.db,
      [...aliases, 'unknown'].map((alias) => loginOf(alias)),
    );
    const alone = await Promise.all(aliases.map((alias) => storeAlone(loginOf(alias))));
    expect(owners).toEqual([...alone, undefined]);
  });

  test.each<[string, () => Promise<LoginToken>]>([
    ['of a new identity', async () => loginOf('new')],
    ['with other groups', async () => loginOf(await known(), { groups: ['g1'], issuedAt: issuedAt + 1 })],
    ['of a newer time', async () => loginOf(await known(), { issuedAt: issuedAt + 1 })],
    [
      'of a disabled entity',
      async () => {
        const alias = await known();
        await login.db.query(
          `update login.entities e set disabled = true from login.entity_aliases a where a.entity_id = e.id and a.name = $1`,
          [alias],
        );
        return loginOf(alias);
      },
    ],
    [
      'with a mount that was disabled',
      async () => {
        const id = await newMount('gone');
        const alias = await known({ mountId: id });
        await login.call('DELETE', '/sys/auth/gone');
        return loginOf(alias, { mountId: id });
      },
    ],
    [
      'whose groups are not known although its mount has some',
      async () => {
        const id = await newMount('grouped');
        const alias = await known({ mountId: id, groups: undefined });
        await login.db.query(
          `with g as (insert into login.groups (id, namespace_id, name) values (gen_random_uuid(), 'root', 'g') returning id)
           insert into login.group_aliases (id, mount_id, name, group_id) select gen_random_uuid(), $1, 'x', id from g`,
          [id],
        );
        return loginOf(alias, { mountId: id, groups: undefined });
      },
    ],
  ])('leaves out a login %s, and stores nothing for it', async (_circumstance, prepare) => {
    const one = await prepare();
    expect(await store(one)).toBeUndefined();
    expect(await stored(one)).toBeUndefined();
  });

  test('stores no token whose policies cannot be evaluated, and returns their size', async () => {
    const one = loginOf(await known(), {}, large);
    expect(await store(one)).toMatchObject({ plusPaths: 600 });
    expect(await stored(one)).toBeUndefined();
  });

  test('does not wait for a mount that is being disabled', async () => {
    const alias = await known();
    const [busy, other] = [await newMount('busy'), loginOf(alias)];
    const waiting = loginOf(await known({ mountId: busy }), { mountId: busy });
    const disabling = openPostgres({ url: login.db.url, connections: 1 });
    await disabling.transaction(async (tx) => {
      await tx.query('select from login.auth_mounts where id = $1 for update', [busy]);
      const batch = insertLoginTokens(login.db, [waiting, other]);
      await tx.query('select 1');
      expect(await batch).toEqual([undefined, expect.anything()]);
    });
    await disabling.close();
    expect(await stored(other)).toBeDefined();
  });
});

describe('concurrent logins', () => {
  const counting = (failing?: Error) => {
    let statements = 0;
    const db: Db = {
      ...login.db,
      query: async (text, params) => {
        statements += 1;
        if (failing !== undefined) throw failing;
        return login.db.query(text, params);
      },
    };
    return { db, statements: () => statements };
  };

  test('are stored by fewer statements than there are logins', async () => {
    const aliases = await Promise.all(Array.from({ length: 40 }, () => known()));
    const { db, statements } = counting();
    const storing = storingLoginTokens(db);
    const owners = await Promise.all(aliases.map((alias) => storing(loginOf(alias))));
    expect(new Set(owners.map((owner) => owner?.entityId)).size).toBe(40);
    expect(statements()).toBeLessThan(4);
  });

  test('are each decided alone where a batch leaves them out', async () => {
    const { db } = counting();
    const storing = storingLoginTokens(db);
    const [alias, first] = [await known(), randomUUID()];
    const owners = await Promise.all([alias, first, first, alias].map((name) => storing(loginOf(name))));
    expect(owners[1]?.entityId).toBe(owners[2]?.entityId);
    expect(owners[0]?.entityId).toBe(owners[3]?.entityId);
  });

  test('are not stored again if the database did not respond', async () => {
    const { db, statements } = counting(new Problem('unavailable', 'the database did not respond'));
    await expect(storingLoginTokens(db)(loginOf('any'))).rejects.toMatchObject({ kind: 'unavailable' });
    expect(statements()).toBe(1);
  });
});
