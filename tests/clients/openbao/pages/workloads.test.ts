import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import { type IssuerForTest, startIssuer } from '../../../../services/login/tests/jwt/issuer-for-test.ts';
import { certificateOf } from '../../../../services/login/tests/kubernetes/cluster/certificate.ts';
import {
  type ClusterForTest,
  startCluster,
} from '../../../../services/login/tests/kubernetes/cluster/cluster-for-test.ts';
import {
  account,
  audience,
  boundClaims,
} from '../../../../services/login/tests/kubernetes/cluster/service-account-tokens.ts';
import { eventuallyEqual } from '../../../harness/eventually.ts';
import { expectStatus } from '../../../harness/http.ts';
import { type Installation, startInstallation } from '../../../harness/installation.ts';
import { Program } from '../../../harness/program.ts';
import { describeClient } from '../../describe-client.ts';
import { codeOf } from './code-blocks.ts';
import { kubectl } from './kubectl-of-page.ts';
import { PageShell } from './page-shell.ts';

const page = 'operations/workloads.md';
const secretsOf = { password: 'the-password' };

/** The issuers of managed clusters, as they are written below the host of one. */
const paths: Record<string, { issuer: string; keys: string }> = {
  AKS: { issuer: '/11111111-2222-4333-8444-555555555555/aaaa-bbbb/', keys: 'openid/v1/jwks' },
  EKS: { issuer: '/id/0123456789ABCDEF', keys: '/keys' },
  GKE: { issuer: '/v1/projects/acme/locations/europe-west1/clusters/shop', keys: '/jwks' },
};

describeClient('openbao', 'docs/operations/workloads.md:', (folder) => {
  const bin = join(folder, 'bin');
  let cluster: ClusterForTest;
  let issuer: IssuerForTest;
  let service: Installation;
  let shell: PageShell;

  beforeAll(async () => {
    const certificate = certificateOf();
    [cluster, issuer] = await Promise.all([startCluster(certificate), startIssuer('')]);
    const places = [cluster, issuer].map(({ port }) => `127.0.0.1/32:${port}`);
    service = await startInstallation({ LOGIN_EGRESS_ALLOW: places.join(',') });
    shell = new PageShell(bin, service.url, { 'https://oidc.acme.example': issuer.url });
    shell.addProgram('kubectl', kubectl(cluster.url));
    write('cluster.pem', certificate.cert);
    write('reviewer.jwt', cluster.reviewerJwt);
    write('jwks.json', JSON.stringify(issuer.keySet()));
    expectStatus(await service.api('POST', 'sys/mounts/secret', { type: 'kv' }), 204);
    await setSecret(secretsOf.password);
    await asOperator(codeOf(page, 'Kubernetes workloads', 'sh')[0]!);
    await asOperator(codeOf(page, 'TokenReview', 'sh')[0]!);
  });
  afterAll(async () => {
    shell?.discard();
    await service?.stop();
    await cluster?.stop();
    await issuer?.stop();
  });

  const write = (name: string, text: string) => writeFileSync(join(shell.home, name), text);
  const setSecret = async (password: string) =>
    expectStatus(await service.api('POST', 'secret/data/shop/db', { data: { password } }), 200);
  const asOperator = (commands: string) => shell.print(commands, { BAO_TOKEN: service.rootToken });
  const logIn = (mount: string, role: string, jwt: string) =>
    service.as(undefined)('POST', `auth/${mount}/login`, { role, jwt });

  /** Expects that a token logs in at a mount, with the policy of the pods. */
  async function expectLogin(mount: string, jwt: string): Promise<void> {
    const { status, body } = await logIn(mount, 'web', jwt);
    expect([status, body.errors, body.auth?.token_policies]).toEqual([200, undefined, ['default', 'web']]);
  }

  async function expectRefusal(mount: string, jwt: string): Promise<void> {
    expect((await logIn(mount, 'web', jwt)).status).toBe(403);
  }

  describe('kubernetes, with a TokenReview', () => {
    test('admits the pod', async () => expectLogin('kubernetes', await cluster.issue()));

    test.each([
      ['another service account', { name: 'other' }],
      ['another namespace', { namespace: 'other' }],
      ['the audience of the API server', { audience: 'https://kubernetes.default.svc' }],
    ])('refuses %s', async (_, request) => expectRefusal('kubernetes', await cluster.issue(request)));

    test('refuses a pod that was deleted', async () => {
      const pod = { name: 'web-9', uid: '33333333-aaaa-4bbb-8ccc-999999999999' };
      const jwt = await cluster.issue({ pod });
      await expectLogin('kubernetes', jwt);
      cluster.remove(pod.uid);
      await expectRefusal('kubernetes', jwt);
    });
  });

  /** Has the cluster be one of a cloud, and returns its issuer. */
  function become(cloud: string): string {
    const { issuer: path, keys } = paths[cloud]!;
    const iss = `${issuer.url}${path}`;
    const documents = JSON.stringify({ issuer: iss, jwks_uri: `${iss}${keys}` });
    const discoveryAt = `${path.replace(/\/$/, '')}/.well-known/openid-configuration`;
    issuer.serve({
      keys: (request: { url: string }, response: { end(text: string): void }) =>
        response.end(request.url === discoveryAt ? documents : JSON.stringify(issuer.keySet())),
    });
    write('discovery.json', documents);
    return iss;
  }

  const podToken = (iss: string, request = {}, claims = {}) =>
    issuer.signOnly({ ...boundClaims(request), iss, ...claims });

  /** Expects that only the pod of the page logs in at the mount `cluster`. */
  async function expectOnlyThePod(iss: string): Promise<void> {
    await expectLogin('cluster', await podToken(iss));
    await expectRefusal('cluster', await podToken(iss, { name: 'web2' }));
    await expectRefusal('cluster', await podToken(iss, { namespace: 'shop2' }));
    await expectRefusal('cluster', await podToken(iss, { audience: 'sts.amazonaws.com' }));
    await expectRefusal('cluster', await podToken(`${iss}x`));
    await expectRefusal('cluster', await podToken(iss, {}, { exp: undefined }));
    await expectRefusal('cluster', await cluster.issue());
  }

  test.each(Object.keys(paths))('jwt, with the published keys of %s, admits only the pod', async (cloud) => {
    const iss = become(cloud);
    await asOperator('bao auth disable cluster');
    await asOperator(codeOf(page, 'Published keys: AKS, EKS, GKE', 'sh')[0]!);
    await expectOnlyThePod(iss);
  });

  test('jwt, with keys that were taken from the cluster, asks nobody and admits only the pod', async () => {
    const iss = become('EKS');
    await asOperator('bao auth disable cluster');
    await asOperator(codeOf(page, 'Published keys: AKS, EKS, GKE', 'sh')[0]!);
    await asOperator(codeOf(page, 'Keys without a connection', 'sh')[0]!);
    const before = issuer.requests();
    await expectOnlyThePod(iss);
    expect(issuer.requests()).toBe(before);
  });

  test('the pod has a token of the audience where the agent reads it', () => {
    const { spec } = parse(codeOf(page, 'Pods', 'yaml')[0]!);
    const [{ projected }] = spec.volumes;
    const [{ serviceAccountToken: token }] = projected.sources;
    const [{ name, mountPath }] = spec.containers[0].volumeMounts;
    expect([spec.serviceAccountName, token.audience, name]).toEqual([
      account.name,
      audience,
      spec.volumes[0].name,
    ]);
    expect(codeOf(page, 'Pods', 'hcl')[0]).toContain(`token_path = "${mountPath}/${token.path}"`);
  });

  test('the agent renders its template, and follows the secret', async () => {
    write('identity', await cluster.issue());
    const rendered = join(shell.home, 'rendered');
    const config = codeOf(page, 'Pods', 'hcl')[0]!
      .replace(audience, service.url)
      .replace('/var/run/identity/token', join(shell.home, 'identity'))
      .replace('/var/run/rendered/password', rendered)
      .replace('"1m"', '"1s"');
    write('agent.hcl', config);
    const env = { PATH: process.env.PATH, HOME: shell.home };
    const agent = new Program(join(bin, 'bao'), { args: ['agent', `-config=${shell.home}/agent.hcl`], env });
    const text = async () => readFileSync(rendered, { encoding: 'utf8', flag: 'a+' });
    try {
      await eventuallyEqual(text, secretsOf.password);
      await setSecret('another-password');
      await eventuallyEqual(text, 'another-password');
    } finally {
      await agent.end('SIGTERM');
      await setSecret(secretsOf.password);
    }
  });

  /** Reads what an object of a client names, with the token that the client requests for its service account. */
  async function readAs(
    auth: { mount: string; role: string; name: string; audiences: string[] },
    path: string,
  ): Promise<unknown> {
    const { mount, role, name, audiences } = auth;
    const iss = become('EKS');
    const request = { name, audience: audiences };
    const jwt = mount === 'kubernetes' ? await cluster.issue(request) : await podToken(iss, request);
    const { body } = expectStatus(await logIn(mount, role, jwt), 200);
    return (await service.as(body.auth.client_token)('GET', path)).body.data.data;
  }

  test('the objects of External Secrets lead to the secret', async () => {
    const [objects, jwtAuth] = codeOf(page, 'External Secrets', 'yaml');
    const [store, external] = parseAllDocuments(objects!).map((one) => one.toJS());
    const { server, path, version, auth } = store.spec.provider.vault;
    expect([server, version, external.spec.secretStoreRef.name]).toEqual([
      audience,
      'v2',
      store.metadata.name,
    ]);
    expect(store.metadata.namespace).toBe(account.namespace);
    const { key, property } = external.spec.data[0].remoteRef;
    const { kubernetes } = auth;
    const { jwt } = parse(jwtAuth!);
    for (const { mount, role, ref } of [
      { mount: kubernetes.mountPath, role: kubernetes.role, ref: kubernetes.serviceAccountRef },
      { mount: jwt.path, role: jwt.role, ref: jwt.kubernetesServiceAccountToken.serviceAccountRef },
    ])
      expect(await readAs({ mount, role, ...ref }, `${path}/data/${key}`)).toEqual({
        [property]: secretsOf[property as 'password'],
      });
  });

  test('the objects of Vault Secrets Operator lead to the secret, and its policy permits events', async () => {
    const objects = parseAllDocuments(codeOf(page, 'Vault Secrets Operator', 'yaml')[0]!).map((one) =>
      one.toJS(),
    );
    const [connection, { spec: auth }, { spec: secret }] = objects;
    expect(objects.map(({ kind }) => kind)).toEqual(['VaultConnection', 'VaultAuth', 'VaultStaticSecret']);
    expect([connection.spec.address, auth.method]).toEqual([audience, 'kubernetes']);
    expect([auth.vaultConnectionRef, secret.vaultAuthRef]).toEqual([
      connection.metadata.name,
      objects[1].metadata.name,
    ]);
    const { role, serviceAccount: name, audiences } = auth.kubernetes;
    expect(
      await readAs({ mount: auth.mount, role, name, audiences }, `${secret.mount}/data/${secret.path}`),
    ).toEqual(secretsOf);
    expect(secret).toMatchObject({ type: 'kv-v2', syncConfig: { instantUpdates: true } });
    const paths = ['sys/events/subscribe/kv-v2/data-write'];
    const { body } = await service.api('POST', 'sys/capabilities', { token: await tokenOfPod(), paths });
    expect(body.data[paths[0]!]).toEqual(['read']);
  });

  const tokenOfPod = async (): Promise<string> =>
    (await logIn('kubernetes', 'web', await cluster.issue())).body.auth.client_token;

  describe('SPIFFE', () => {
    /** The claims of a JWT-SVID of SPIRE: https://github.com/spiffe/spiffe/blob/main/standards/JWT-SVID.md */
    const svid = (id: string, claims = {}) => {
      const iat = Math.floor(Date.now() / 1_000);
      const usual = { aud: [audience], iss: issuer.url, iat, exp: iat + 300 };
      return issuer.signOnly({ ...usual, sub: id, ...claims }, { typ: 'JWT' });
    };

    beforeAll(async () => {
      issuer.serve({ keys: issuerDocuments });
      await asOperator(codeOf(page, 'SPIFFE', 'sh')[0]!);
    });
    const issuerDocuments = (request: { url: string }, response: { end(text: string): void }) =>
      response.end(
        JSON.stringify(
          request.url === '/.well-known/openid-configuration' ? issuer.discovery() : issuer.keySet(),
        ),
      );

    test('a workload logs in with its SVID', async () => {
      const fetched = [
        { svids: [{ hint: '', spiffe_id: 'x', svid: await svid('spiffe://acme.example/ns/shop/sa/web') }] },
        { bundles: {} },
      ];
      write('svid.json', JSON.stringify(fetched));
      const command = `api fetch jwt -audience ${audience} -output json`;
      shell.addProgram('spire-agent', `[ "$*" = '${command}' ] && cat "$HOME/svid.json"\n`);
      expect(await shell.print(codeOf(page, 'SPIFFE', 'sh')[1]!)).toMatch(/^sst_/);
    });

    test.each([
      ['another trust domain', 'spiffe://mallory.example/ns/shop/sa/web', {}],
      ['another namespace', 'spiffe://acme.example/ns/other/sa/web', {}],
      ['a path below', 'spiffe://acme.example/ns/shop/sa/web/admin', {}],
      ['another audience', 'spiffe://acme.example/ns/shop/sa/web', { aud: ['other'] }],
      ['no issuer', 'spiffe://acme.example/ns/shop/sa/web', { iss: undefined }],
      ['no expiry', 'spiffe://acme.example/ns/shop/sa/web', { exp: undefined }],
    ])('an SVID with %s is refused', async (_, id, claims) =>
      expectRefusal('spiffe', await svid(id, claims)),
    );
  });
});
