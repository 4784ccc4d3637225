import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { readStoredContent, rowGuard } from '@secrets/access';
import { parseKeyRing } from '@secrets/seal';
import { SignJWT } from 'jose';
import { rebindRows } from '../../src/rows/rebind-rows.ts';
import { anonymous, oid, useCloudB } from '../login-for-test.ts';

// What somebody can do to configurations of logins who may write to the database, but has no row key (docs/security.md).

const { cloudB, login } = useCloudB();
const key = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const pem = String(key.publicKey.export({ type: 'spki', format: 'pem' }));
const sign = (claims: Record<string, unknown>) =>
  new SignJWT({ aud: 'a', ...claims })
    .setProtectedHeader({ alg: 'ES256' })
    .setIssuedAt()
    .setExpirationTime('5m')
    .sign(key.privateKey);

interface Method {
  table: 'cloudb_configs' | 'jwt_configs' | 'kubernetes_configs';
  config: () => object;
  role: object;
  jwt: () => Promise<string>;
  /** A change by which other tokens would log in. */
  change: object;
}

const pod = { name: 'web', uid: randomUUID() };
const methods: Record<string, Method> = {
  cloudB: {
    table: 'cloudb_configs',
    config: () => ({ tenant_id: cloudB.sandbox.tenantId, resource: 'https://management.example/' }),
    role: { bound_service_principal_ids: [oid] },
    jwt: () => cloudB.issueJwt(),
    change: { tenant_id: randomUUID() },
  },
  jwt: {
    table: 'jwt_configs',
    config: () => ({ jwt_validation_pubkeys: pem, bound_issuer: 'https://issuer.example' }),
    role: { role_type: 'jwt', user_claim: 'sub', bound_audiences: 'a', bound_subject: 's' },
    jwt: () => sign({ iss: 'https://issuer.example', sub: 's' }),
    change: { bound_issuer: '' },
  },
  kubernetes: {
    table: 'kubernetes_configs',
    config: () => ({ kubernetes_host: 'https://cluster.example', pem_keys: pem }),
    role: {
      bound_service_account_names: 'web',
      bound_service_account_namespaces: 'shop',
      audience: 'a',
    },
    jwt: () =>
      sign({
        sub: 'system:serviceaccount:shop:web',
        'kubernetes.io': { namespace: 'shop', serviceaccount: pod },
      }),
    change: { kubernetes_host: 'https://other.example' },
  },
};

describe.each(Object.entries(methods))('the configuration of %s', (type, method) => {
  const { table } = method;
  const [mount, other] = [`of-${type}`, `other-${type}`];
  const path = `/auth/${mount}/config`;
  const configure = async (at = mount) => login.call('POST', `/auth/${at}/config`, method.config());
  const logIn = async () =>
    login.call('POST', `/auth/${mount}/login`, { role: 'web', jwt: await method.jwt() }, anonymous);
  const ofMount = `mount_id = (select id from login.auth_mounts where path = '${mount}')`;
  const set = (assignment: string) =>
    login.db.query(`update login.${table} set ${assignment} where ${ofMount}`);
  /** Lets logins notice a change. */
  const announce = () => login.call('POST', `/sys/auth/${mount}/tune`, { description: randomUUID() });
  const stored = async () => {
    const rows = await login.db.query<{ row_hash: string | null }>(
      `select row_hash from login.${table} where ${ofMount}`,
    );
    return rows[0]!.row_hash;
  };
  /** Changes the settings and keeps the hash, which takes two statements (`login.forget_row_hash`). */
  const change = async () => {
    const hash = await stored();
    await set(`settings = settings || '${JSON.stringify(method.change)}'`);
    await set(`row_hash = '${hash}'`);
  };
  const refusal = {
    status: 409,
    body: {
      errors: [
        expect.stringMatching(/^the configuration of this auth mount: is not as this service has written it/),
      ],
    },
  };

  beforeEach(async () => {
    for (const at of [mount, other]) {
      await login.call('DELETE', `/sys/auth/${at}`);
      expect((await login.call('POST', `/sys/auth/${at}`, { type })).status).toBe(204);
      expect((await configure(at)).status).toBeLessThan(300);
      expect((await login.call('POST', `/auth/${at}/role/web`, method.role)).status).toBeLessThan(300);
    }
  });

  test('is used as it was written, and after it was written again', async () => {
    expect((await logIn()).status).toBe(200);
    await configure();
    expect((await logIn()).status).toBe(200);
  });

  test.each<[string, () => Promise<unknown>]>([
    ['was changed', change],
    ['has no hash', () => set('row_hash = null')],
    [
      'has the settings and the hash of another',
      () =>
        set(`(settings, row_hash) = (select settings, row_hash from login.${table}
          where mount_id = (select id from login.auth_mounts where path = '${other}'))`),
    ],
  ])('is neither used nor shown if it %s, until it is written as a whole', async (_how, attack) => {
    const used = await logIn();
    await attack();
    await announce();
    expect(await logIn()).toMatchObject(refusal);
    expect(await login.call('POST', '/auth/token/renew-self', {}, login.callerOf(used))).toMatchObject(
      refusal,
    );
    expect(await login.call('GET', path)).toMatchObject(refusal);
    if (type === 'cloudB') {
      expect(await configure()).toMatchObject(refusal); // it would keep the fields that a request omits
      expect((await login.call('DELETE', path)).status).toBe(204);
    }
    expect((await configure()).status).toBeLessThan(300);
    expect((await logIn()).status).toBe(200);
  });

  test('loses its hash when the version before changes it', async () => {
    await set(`settings = settings || '${JSON.stringify(method.change)}'`);
    expect(await stored()).toBeNull();
  });

  test('is bound by the current key after a rotation, unless it was changed', async () => {
    const newer = parseKeyRing(`r2:${randomBytes(32).toString('base64')} bound\n`, 'test');
    const keys = [...newer.keys, ...login.rowKeys.keys];
    const rowKeys = { ...newer, keys, find: (id: string) => keys.find((one) => one.id === id) };
    await change();
    const rows = rowGuard(rowKeys);
    await rebindRows({ db: login.db, rows, rowKeys, isStopping: () => false });
    const all = await readStoredContent(login.db, `login.${table}`, [], 100);
    const ids = all.map(({ row, rowHash }) => [rowHash?.split(':')[0], rows.accepts(row, rowHash)]);
    expect(ids).toContainEqual(['r2', true]);
    expect(ids.filter(([, isAccepted]) => isAccepted === false)).toEqual([['r1', false]]);
    await login.db.query(`update login.${table} set row_hash = null`); // what the next test cannot verify
  });
});
