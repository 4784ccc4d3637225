import { beforeAll, describe, expect, test } from '@jest/globals';
import { audience } from './cluster/service-account-tokens.ts';
import { forgeries } from './forged-tokens.ts';
import { needed, useKubernetes } from './kubernetes-for-test.ts';

const { kubernetes, login, cluster } = useKubernetes();

/** Ways to verify a token, by the configuration that leads to them. */
const ways: [string, () => object][] = [
  ['a review', () => ({ token_reviewer_jwt: cluster.reviewerJwt })],
  ['keys and a review', () => ({ token_reviewer_jwt: cluster.reviewerJwt, pem_keys: [cluster.pem] })],
  ['keys of the configuration', () => ({ pem_keys: [cluster.pem] })],
  ['keys of the cluster', () => ({})],
];

describe.each(ways)('with %s', (_, settings) => {
  beforeAll(async () => {
    cluster.publish(true);
    await kubernetes.configure(settings());
  });

  test('the genuine token logs in', async () => {
    expect((await kubernetes.logInAs()).status).toBe(200);
  });

  test.each(forgeries)('a token $title does not log in', async ({ token, sentence }) => {
    const { status, body } = await kubernetes.logIn(await token(cluster));
    expect([400, 403]).toContain(status);
    expect(body.errors).toEqual([expect.stringMatching(sentence)]);
    for (const value of [audience, 'shop', 'web']) expect(JSON.stringify(body)).not.toContain(`"${value}"`);
  });
});

// Published faults of the method of Vault and OpenBao, and of what it relies on.
describe('a role or token that the original method accepts, or once accepted, is refused:', () => {
  test('a role without an audience (hashicorp/vault-plugin-auth-kubernetes#175, vault#6550)', async () => {
    const { status } = await login.call('POST', '/auth/kubernetes/role/open', {
      ...needed,
      audience: undefined,
    });
    expect(status).toBe(400);
  });

  test('a role with * among its names and namespaces, where only * alone was noticed', async () => {
    const bounds = { bound_service_account_names: ['a', '*'], bound_service_account_namespaces: ['*', 'b'] };
    expect((await kubernetes.writeRole('open', bounds)).status).toBe(400);
  });

  test('a token for whose audience the cluster did not look (audiences of the status; TokenReview v1)', async () => {
    await kubernetes.configure({ token_reviewer_jwt: cluster.reviewerJwt });
    const user = { username: 'system:serviceaccount:shop:web', uid: '11111111-aaaa-4bbb-8ccc-222222222222' };
    cluster.answer({
      review: (_request, response) =>
        response.end(
          JSON.stringify({
            kind: 'TokenReview',
            apiVersion: 'authentication.k8s.io/v1',
            status: { authenticated: true, user },
          }),
        ),
    });
    expect((await kubernetes.logInAs()).status).toBe(403);
    cluster.reset();
  });

  test('an entity of a deleted service account, by one of its name (alias_name_source)', async () => {
    await kubernetes.configure({ token_reviewer_jwt: cluster.reviewerJwt });
    const entityOf = async (uid: string) => (await kubernetes.logInAs({ uid })).body.auth.entity_id;
    expect(await entityOf('of-the-successor')).not.toBe(await entityOf('of-the-deleted'));
  });

  test('the token of the reviewer itself', async () => {
    await kubernetes.writeRole('wide', {
      bound_service_account_names: '*',
      bound_service_account_namespaces: ['secrets'],
    });
    expect((await kubernetes.logIn(cluster.reviewerJwt, 'wide')).status).toBe(403);
  });
});
