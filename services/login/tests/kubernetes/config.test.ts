import { beforeEach, describe, expect, test } from '@jest/globals';
import { anonymous, startLoginForTest } from '../login-for-test.ts';
import { certificateOf } from './cluster/certificate.ts';
import { startCluster } from './cluster/cluster-for-test.ts';
import { serverAudience } from './cluster/service-account-tokens.ts';
import { needed, useKubernetes } from './kubernetes-for-test.ts';

const { kubernetes, login, cluster } = useKubernetes();
const shown = async () => (await login.call('GET', '/auth/kubernetes/config')).body.data;
beforeEach(() => cluster.reset());

describe('a configuration', () => {
  test('is shown with its defaults, but never the reviewer', async () => {
    expect((await kubernetes.configure()).status).toBe(204);
    expect(await shown()).toEqual({
      kubernetes_host: cluster.url,
      kubernetes_ca_cert: '',
      pem_keys: [],
      issuer: '',
      disable_iss_validation: true,
      disable_local_ca_jwt: false,
      token_reviewer_jwt_set: true,
    });
    const rows = JSON.stringify(await login.db.query('select settings from login.kubernetes_configs'));
    expect(rows).not.toContain(cluster.reviewerJwt);
    expect(login.logged()).not.toContain(cluster.reviewerJwt);
  });

  test('is replaced by a write, so that a stored reviewer is not sent to another host', async () => {
    await kubernetes.configure();
    const { body } = await login.call('POST', '/auth/kubernetes/config', {
      kubernetes_host: 'https://other.example',
    });
    expect(body.warnings).toEqual([expect.stringMatching(/^token_reviewer_jwt and pem_keys are not set/)]);
    expect(await shown()).toMatchObject({
      kubernetes_host: 'https://other.example',
      token_reviewer_jwt_set: false,
    });
    const [row] = await login.db.query(
      'select 1 from login.kubernetes_configs where sealed_token_reviewer_jwt is not null',
    );
    expect(row).toBeUndefined();
  });

  test.each([
    [{ kubernetes_host: undefined }, /^kubernetes_host is required/],
    [{ kubernetes_host: '' }, /^kubernetes_host is required/],
    [{ kubernetes_host: '10.0.0.1:443' }, /^kubernetes_host: must be an https URL/],
    [{ kubernetes_host: 'http://cluster.example' }, /^kubernetes_host: must be an https URL/],
    [{ kubernetes_host: 'https://user:pw@cluster.example' }, /^kubernetes_host: must be an https URL/],
    [{ kubernetes_host: 'https://cluster.example/?x=' }, /^kubernetes_host: must be a URL without a query/],
    [{ kubernetes_host: 'https://cluster.example/#x' }, /^kubernetes_host: must be an https URL/],
    [{ kubernetes_ca_cert: 'x' }, /^kubernetes_ca_cert: must be certificates in PEM/],
    [{ pem_keys: 'x' }, /^pem_keys: must be public keys in PEM/],
    [{ token_reviewer_jwt: 'a\r\nx-other: b' }, /^token_reviewer_jwt: must be a token/],
    [{ token_reviewer_jwt: 'x'.repeat(16_385) }, /^token_reviewer_jwt: /],
    [{ token_reviewer_jwt: 7 }, /^token_reviewer_jwt: /],
    [{ disable_iss_validation: false }, /^issuer is required if disable_iss_validation is false/],
    [{ disable_iss_validation: 'maybe' }, /^disable_iss_validation: /],
    [{ disable_local_ca_jwt: 'maybe' }, /^disable_local_ca_jwt: /],
    [{ issuer: 'x'.repeat(2_049) }, /^issuer: /],
  ])('is refused with %j, and not stored', async (body, sentence) => {
    await kubernetes.configure();
    const before = await shown();
    const answer = await kubernetes.configure(body);
    expect([answer.status, answer.body.errors]).toEqual([400, [expect.stringMatching(sentence)]]);
    expect(await shown()).toEqual(before);
  });

  test('with an address that is not permitted leads to no connection', async () => {
    const { port } = cluster;
    for (const kubernetes_host of [
      'https://169.254.169.254',
      `http://localhost:${port === 65_000 ? 65_001 : 65_000}`,
      'https://10.0.0.1:6443',
    ]) {
      for (const over of [{}, { token_reviewer_jwt: cluster.reviewerJwt }]) {
        await kubernetes.configure({ kubernetes_host, ...over });
        const { status, body } = await kubernetes.logInAs();
        expect([status, body.errors]).toEqual([502, [expect.stringContaining('LOGIN_EGRESS_ALLOW')]]);
      }
    }
  });
});

test('a reviewer that was copied from another mount in the database is not sent', async () => {
  await kubernetes.configure();
  await login.call('POST', '/sys/auth/copied', { type: 'kubernetes' });
  await login.call('POST', '/auth/copied/role/web', needed);
  const settings = { kubernetes_host: cluster.url, token_reviewer_jwt: 'own' };
  await login.call('POST', '/auth/copied/config', settings);
  await login.db.query(
    `update login.kubernetes_configs c set sealed_token_reviewer_jwt = other.sealed_token_reviewer_jwt
     from login.kubernetes_configs other join login.auth_mounts m on m.id = other.mount_id and m.path = 'kubernetes'
     where c.mount_id = (select id from login.auth_mounts where path = 'copied')`,
  );
  const body = { role: 'web', jwt: await cluster.issue() };
  expect((await login.call('POST', '/auth/copied/login', body, anonymous)).status).toBe(500);
  expect(cluster.received).toEqual([]);
});

test('a reviewer is not sent to a host that was changed in the database, although logins have not noticed', async () => {
  await kubernetes.configure();
  expect((await kubernetes.logInAs()).status).toBe(200);
  const [row] = await login.db.query<{ row_hash: string }>(
    `select row_hash from login.kubernetes_configs where settings->>'kubernetes_host' = '${cluster.url}'`,
  );
  await login.db.query(
    `update login.kubernetes_configs set settings = settings || '{"kubernetes_host": "${cluster.url}/other"}'`,
  );
  await login.db.query('update login.kubernetes_configs set row_hash = $1', [row!.row_hash]);
  cluster.reset();
  expect((await kubernetes.logInAs()).status).toBe(409);
  expect(cluster.received).toEqual([]);
  await kubernetes.configure();
});

test('an issuer that a token must have is compared with iss', async () => {
  const settings = { pem_keys: [cluster.pem], issuer: serverAudience };
  await kubernetes.configure(settings);
  expect(await shown()).toMatchObject({ issuer: serverAudience, disable_iss_validation: false });
  expect((await kubernetes.logInAs()).status).toBe(200);
  const { body } = await kubernetes.logInAs({ claims: { iss: 'https://other.example' } });
  expect(body.errors).toEqual(["the token's iss is not what this mount accepts"]);
});

test('a cluster that is reached over TLS must have a certificate that is trusted', async () => {
  const [tls, other] = [certificateOf(), certificateOf()];
  const secure = await startCluster(tls);
  const service = await startLoginForTest({ egressAllow: [`127.0.0.1/32:${secure.port}`] });
  await service.call('POST', '/sys/auth/kubernetes', { type: 'kubernetes' });
  await service.call('POST', '/auth/kubernetes/role/web', needed);
  const statusWith = async (kubernetes_ca_cert: string) => {
    const reviewer = { token_reviewer_jwt: secure.reviewerJwt };
    const body = { kubernetes_host: secure.url, kubernetes_ca_cert, ...reviewer };
    await service.call('POST', '/auth/kubernetes/config', body);
    const login = { role: 'web', jwt: await secure.issue() };
    return (await service.call('POST', '/auth/kubernetes/login', login, anonymous)).status;
  };
  try {
    expect(await statusWith(tls.cert)).toBe(200);
    expect(await statusWith(other.cert)).toBe(503);
    expect(await statusWith('')).toBe(503);
    expect(secure.received).toHaveLength(1); // no token was sent to a server with another certificate
  } finally {
    await service.stop();
    await secure.stop();
  }
});
