import { afterEach, describe, expect, test } from '@jest/globals';
import { reviewed } from './cluster/answers.ts';
import { account } from './cluster/service-account-tokens.ts';
import { forgeries } from './forged-tokens.ts';
import { useKubernetes } from './kubernetes-for-test.ts';

interface Shown {
  check: string;
  passed: boolean;
  reached?: false;
  claim: string;
  reason?: string;
  values: Record<string, unknown>;
}

const { kubernetes, login, cluster } = useKubernetes();

afterEach(() => {
  cluster.reset();
});

async function diagnose(
  jwt: string,
  role = 'web',
  over = {},
): Promise<{ admitted: boolean; checks: Shown[] }> {
  const response = await login.call('POST', '/auth/kubernetes/diagnose', { role, jwt, ...over });
  expect(response.status).toBe(200);
  return response.body.data;
}
const failed = ({ checks }: { checks: Shown[] }) =>
  checks.filter(({ passed, reached }) => !passed && reached !== false);
const notReached = ({ checks }: { checks: Shown[] }) => checks.filter(({ reached }) => reached === false);
const reasons = (diagnosis: { checks: Shown[] }) => failed(diagnosis).map(({ reason }) => reason);

/** Ways to verify a token, by the configuration that leads to them, with the check that confirms it. */
const ways: [string, () => object, string[]][] = [
  ['a review', () => ({ token_reviewer_jwt: cluster.reviewerJwt }), ['the cluster confirms the JWT']],
  [
    'keys and a review',
    () => ({ token_reviewer_jwt: cluster.reviewerJwt, pem_keys: [cluster.pem] }),
    ['a key of the cluster signed the JWT', 'the cluster confirms the JWT'],
  ],
  ['keys of the configuration', () => ({ pem_keys: [cluster.pem] }), ['a key of the cluster signed the JWT']],
  ['keys of the cluster', () => ({}), ['a key of the cluster signed the JWT']],
];

describe.each(ways)('with %s, a diagnosis', (_way, settings, confirmations) => {
  const configure = async () => {
    cluster.publish(true);
    await kubernetes.configure(settings());
  };

  test('of a genuine token shows what confirms it, and admits it', async () => {
    await configure();
    const { admitted, checks } = await diagnose(await cluster.issue());
    expect(checks.filter(({ passed }) => !passed)).toEqual([]);
    expect(admitted).toBe(true);
    const names = checks.map(({ check }) => check);
    expect(
      names.filter((name) => /^(?:a key of )?the cluster (?:signed|confirms)|^a key/.test(name)),
    ).toEqual(confirmations);
    expect(checks).toContainEqual(
      expect.objectContaining({
        claim: 'kubernetes.io/namespace',
        values: { 'kubernetes.io/namespace': account.namespace },
      }),
    );
  });

  test.each(forgeries)('of a token $title agrees with a login', async ({ token }) => {
    await configure();
    const jwt = await token(cluster);
    const refused = await kubernetes.logIn(jwt);
    const response = await login.call('POST', '/auth/kubernetes/diagnose', { role: 'web', jwt });
    if (response.status === 400) return expect(response.body.errors).toEqual(refused.body.errors);
    expect(response.body.data.admitted).toBe(false);
    return expect(reasons(response.body.data)).toContain(refused.body.errors[0]);
  });
});

test('a diagnosis makes the checks that follow one that failed', async () => {
  await kubernetes.configure();
  cluster.answer({ review: reviewed({ authenticated: false }) });
  const diagnosis = await diagnose(await cluster.issue({ namespace: 'other' }));
  expect(reasons(diagnosis)).toEqual([
    'the cluster does not accept the token',
    "the namespace of the service account is not among the role's bound_service_account_namespaces",
  ]);
});

test('a diagnosis says which checks it could not make', async () => {
  await kubernetes.configure();
  const malformed = await diagnose('a.b.c');
  expect(reasons(malformed)).toEqual([expect.stringMatching(/^jwt: /)]);
  expect(notReached(malformed).map(({ check }) => check)).toEqual([
    'the JWT names a service account',
    'the cluster confirms the JWT',
    'the role admits the service account',
  ]);
  const missing = await diagnose(await cluster.issue(), 'none');
  expect(reasons(missing)).toEqual(['role: does not exist']);
  expect(notReached(missing)).toHaveLength(2);
});

test('a diagnosis checks an address only if there is one', async () => {
  await kubernetes.configure();
  await kubernetes.writeRole('near', { token_bound_cidrs: '10.0.0.0/8' });
  const jwt = await cluster.issue();
  expect((await diagnose(jwt, 'near')).admitted).toBe(true);
  const far = await diagnose(jwt, 'near', { remote_address: '11.1.2.3' });
  expect(reasons(far)).toEqual([expect.stringContaining('token_bound_cidrs')]);
});

test('a diagnosis issues and logs nothing', async () => {
  await kubernetes.configure();
  const tokens = () => login.db.query('select hash from login.tokens order by hash');
  const before = await tokens();
  const jwt = await cluster.issue();
  const diagnosis = await diagnose(jwt);
  expect(await tokens()).toEqual(before);
  for (const part of jwt.split('.').slice(1)) {
    expect(JSON.stringify(diagnosis)).not.toContain(part);
    expect(login.logged()).not.toContain(part);
  }
  expect(login.logged()).not.toContain(cluster.reviewerJwt.split('.')[1]);
});
