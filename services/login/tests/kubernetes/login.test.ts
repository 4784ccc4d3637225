import { beforeEach, describe, expect, test } from '@jest/globals';
import { exportSPKI, generateKeyPair } from 'jose';
import { failing, reviewed } from './cluster/answers.ts';
import { account, audience, serverAudience } from './cluster/service-account-tokens.ts';
import { useKubernetes } from './kubernetes-for-test.ts';

const { kubernetes, login, cluster } = useKubernetes();

beforeEach(async () => {
  cluster.reset();
  expect((await kubernetes.configure()).status).toBe(204);
});

const metadata = {
  role: 'web',
  service_account_name: 'web',
  service_account_namespace: 'shop',
  service_account_secret_name: '',
  service_account_uid: account.uid,
};

describe('a login', () => {
  test('returns a token with the policies and limits of the role, and the metadata of the original method', async () => {
    const { status, body } = await kubernetes.logInAs();
    expect(status).toBe(200);
    expect(body.auth).toMatchObject({
      token_policies: ['default', 'dev'],
      lease_duration: 3_600,
      renewable: true,
      metadata,
    });
    expect(await login.isAccepted(body.auth.client_token)).toBe(true);
    const { accessor } = body.auth;
    const { data } = (await login.call('POST', '/auth/token/lookup-accessor', { accessor })).body;
    expect(data).toMatchObject({ path: 'auth/kubernetes/login', display_name: 'kubernetes-shop-web' });
  });

  test('has an entity by the ID of the service account, or by its name', async () => {
    const entityOf = async (uid: string, role: string) =>
      (await kubernetes.logInAs({ uid }, role)).body.auth.entity_id;
    const successor = 'another-uid';
    expect(await entityOf(account.uid, 'web')).toBe(await entityOf(account.uid, 'web'));
    expect(await entityOf(successor, 'web')).not.toBe(await entityOf(account.uid, 'web'));
    await kubernetes.writeRole('named', { alias_name_source: 'serviceaccount_name' });
    expect(await entityOf(successor, 'named')).toBe(await entityOf(account.uid, 'named'));
    const [alias] = await login.db.query("select 1 from login.entity_aliases where name = 'shop/web'");
    expect(alias).toBeDefined();
  });

  test('needs a role that exists, a JWT and a configuration', async () => {
    const bodies = [
      [{ role: 'web' }, 'jwt is required'],
      [{ jwt: await cluster.issue() }, 'role is required'],
      [{ role: 'none', jwt: await cluster.issue() }, 'role: does not exist'],
      [{ role: 'web', jwt: 'a.b' }, 'jwt: is not a signed token'],
    ] as const;
    for (const [body, sentence] of bodies) {
      const { status, body: answer } = await login.call('POST', '/auth/kubernetes/login', body);
      expect([status, answer.errors]).toEqual([400, [sentence]]);
    }
    await login.call('POST', '/sys/auth/empty', { type: 'kubernetes' });
    await login.call('POST', '/auth/empty/role/web', {
      bound_service_account_names: 'web',
      bound_service_account_namespaces: 'shop',
      audience,
    });
    const body = { role: 'web', jwt: await cluster.issue() };
    const { errors } = (await login.call('POST', '/auth/empty/login', body)).body;
    expect(errors).toEqual(['this auth mount is not configured']);
  });

  test('through a pattern is for whoever it matches as a whole', async () => {
    await kubernetes.writeRole('pattern', {
      bound_service_account_names: 'web-*',
      bound_service_account_namespaces: ['shop', 'team-*'],
    });
    const statusOf = async (name: string, namespace: string) =>
      (await kubernetes.logInAs({ name, namespace }, 'pattern')).status;
    expect(await statusOf('web-1', 'shop')).toBe(200);
    expect(await statusOf('web-1', 'team-a')).toBe(200);
    expect(await statusOf('web', 'shop')).toBe(403);
    expect(await statusOf('a-web-1', 'shop')).toBe(403);
    expect(await statusOf('web-1', 'shop-2')).toBe(403);
  });

  test('logs nothing of the token, the reviewer or the service account', async () => {
    const jwt = await cluster.issue({ name: 'canary-name' });
    expect((await kubernetes.logIn(jwt)).status).toBe(403);
    expect(login.logged()).toContain('login refused');
    for (const secret of [jwt, cluster.reviewerJwt, 'canary-name'])
      expect(login.logged()).not.toContain(secret);
  });
});

describe('a review', () => {
  test('asks for the audience of the role, as the reviewer', async () => {
    const jwt = await cluster.issue();
    expect((await kubernetes.logIn(jwt)).status).toBe(200);
    expect(cluster.received).toEqual([
      {
        method: 'POST',
        path: '/apis/authentication.k8s.io/v1/tokenreviews',
        bearer: cluster.reviewerJwt,
        body: JSON.stringify({
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'TokenReview',
          spec: { token: jwt, audiences: [audience] },
        }),
      },
    ]);
  });

  test.each([account.uid, account.pod.uid])('refuses the token of what was deleted (%s)', async (uid) => {
    const jwt = await cluster.issue();
    for (const pem_keys of [[], [cluster.pem]]) {
      await kubernetes.configure({ token_reviewer_jwt: cluster.reviewerJwt, pem_keys });
      cluster.reset();
      expect((await kubernetes.logIn(jwt)).status).toBe(200);
      cluster.remove(uid);
      const { status, body } = await kubernetes.logIn(jwt);
      expect([status, body.errors]).toEqual([403, ['the cluster does not accept the token']]);
    }
  });

  test('confirms a token without an expiry', async () => {
    await kubernetes.writeRole('server', { audience: serverAudience });
    const { status, body } = await kubernetes.logIn(await cluster.issueLegacy(), 'server');
    expect([status, body.auth?.metadata.service_account_secret_name]).toEqual([200, 'web-token-x7k2p']);
  });

  const user = { username: 'system:serviceaccount:shop:web', uid: account.uid };
  const confirmed = { authenticated: true, user, audiences: [audience] };
  test.each([
    ['is confirmed', confirmed, 200, undefined],
    ['is not authenticated', { ...confirmed, authenticated: false }, 403, /does not accept the token/],
    ['has no answer to that', { user, audiences: [audience] }, 403, /does not accept the token/],
    ['has an error', { ...confirmed, error: 'canary-error' }, 403, /does not accept the token$/],
    ['is for no audience', { ...confirmed, audiences: undefined }, 403, /audience/],
    ['is for another audience', { ...confirmed, audiences: [serverAudience] }, 403, /audience/],
    [
      'is that of a node',
      { ...confirmed, user: { ...user, username: 'system:node:x' } },
      403,
      /another user/,
    ],
    [
      'is that of an administrator',
      { ...confirmed, user: { username: 'admin', uid: '' } },
      403,
      /another user/,
    ],
    [
      'is that of another namespace',
      { ...confirmed, user: { ...user, username: 'system:serviceaccount:b:web' } },
      403,
      /another user/,
    ],
    [
      'is that of a longer name',
      { ...confirmed, user: { ...user, username: `${user.username}:x` } },
      403,
      /another user/,
    ],
    ['is that of a successor', { ...confirmed, user: { ...user, uid: 'other' } }, 403, /another user/],
    ['has no user', { ...confirmed, user: undefined }, 403, /another user/],
    ['has a text for a truth', { ...confirmed, authenticated: 'true' }, 502, /not a TokenReview/],
    ['has a text for audiences', { ...confirmed, audiences: audience }, 502, /not a TokenReview/],
  ])('of which the status %s', async (_, status, expected, sentence) => {
    cluster.answer({ review: reviewed(status) });
    const answer = await kubernetes.logInAs();
    expect(answer.status).toBe(expected);
    if (sentence !== undefined) expect(answer.body.errors).toEqual([expect.stringMatching(sentence)]);
    expect(login.logged()).not.toContain('canary-error');
  });

  const raw = (text: string) => (_: unknown, response: { end(text: string): void }) => response.end(text);
  test.each([
    ['401', failing(401), 502, /does not accept token_reviewer_jwt/],
    ['403', failing(403), 502, /may not review tokens/],
    ['404', failing(404), 502, /status 404/],
    ['302', failing(302, { location: 'http://127.0.0.1:1/' }), 502, /status 302/],
    ['429', failing(429, { 'retry-after': '7' }), 503, /status 429/],
    ['500', failing(500), 503, /status 500/],
    ['nothing', raw(''), 502, /not a TokenReview|status 200/],
    ['a text', raw('ok'), 502, /not a TokenReview/],
    ['another kind', raw('{"kind":"Status","apiVersion":"v1","status":"Success"}'), 502, /not a TokenReview/],
    [
      'a name twice',
      raw(
        `{"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1","status":{"authenticated":false,"authenticated":true,"audiences":["${audience}"],"user":${JSON.stringify(user)}}}`,
      ),
      502,
      /not a TokenReview/,
    ],
    ['a giant document', raw(`{"a":"${'x'.repeat(600_000)}"}`), 502, /too large/],
    ['deep JSON', raw('['.repeat(10_000)), 502, /too large/],
    [
      'a cut connection',
      (request: { socket: { destroy(): void } }) => request.socket.destroy(),
      503,
      /does not respond/,
    ],
  ])('that is answered with %s', async (_, review, expected, sentence) => {
    cluster.answer({ review: review as never });
    const { status, body, headers } = await kubernetes.logInAs();
    expect([status, body.errors]).toEqual([expected, [expect.stringMatching(sentence)]]);
    if (expected === 503) expect(headers.get('retry-after')).toMatch(/^\d+$/);
  });

  test('that is not answered ends within 5 s', async () => {
    cluster.answer({ review: () => undefined });
    const begin = performance.now();
    expect((await kubernetes.logInAs()).status).toBe(503);
    expect(performance.now() - begin).toBeLessThan(7_000);
  });

  test('is not begun for what is not a current token of a service account', async () => {
    const now = Math.floor(Date.now() / 1_000);
    const requests = [
      { exp: now - 120 },
      { nbf: now + 120 },
      { sub: 'system:node:x' },
      { 'kubernetes.io': {} },
    ];
    for (const claims of requests) expect((await kubernetes.logInAs({ claims })).status).toBe(403);
    expect(cluster.received).toEqual([]);
  });

  test('is one of at most 32 at a time', async () => {
    const waiting: (() => void)[] = [];
    cluster.answer({ review: (_, response) => void waiting.push(() => failing(500)(_, response)) });
    const jwt = await cluster.issue();
    const statuses = Array.from({ length: 40 }, () => kubernetes.logIn(jwt));
    const refused = await Promise.race([
      Promise.all(statuses).then(() => 'all'),
      new Promise((resolve) => setTimeout(resolve, 1_500, 'waiting')),
    ]);
    expect(refused).toBe('waiting');
    expect(waiting).toHaveLength(32);
    for (const end of waiting) end();
    const errors = (await Promise.all(statuses)).map(({ body }) => body.errors[0]);
    expect(errors.filter((error) => error === 'too many tokens are being reviewed')).toHaveLength(8);
  });
});

describe('without a reviewer', () => {
  test('keys of the configuration verify tokens, without a request', async () => {
    const { body } = await kubernetes.configure({ pem_keys: [cluster.pem] });
    expect(body.warnings).toEqual([
      expect.stringMatching(/^token_reviewer_jwt is not set: tokens of deleted pods/),
    ]);
    expect((await kubernetes.logInAs()).status).toBe(200);
    expect(cluster.received).toEqual([]);
    const { status, body: refused } = await kubernetes.logIn(await cluster.issueLegacy());
    expect([status, refused.errors]).toEqual([
      403,
      ['the token does not expire, and no token_reviewer_jwt can confirm it'],
    ]);
  });

  test('keys that the cluster publishes verify tokens', async () => {
    await kubernetes.configure({});
    cluster.publish(true);
    expect((await kubernetes.logInAs()).status).toBe(200);
    expect((await kubernetes.logInAs()).status).toBe(200);
    expect((await kubernetes.logIn(await cluster.issueLegacy())).status).toBe(403);
    expect(cluster.received.map(({ path }) => path)).toEqual(['/openid/v1/jwks']);
  });

  test.each([401, 403, 404])('and without keys (%i), the token reviews itself', async (status) => {
    await kubernetes.configure({});
    cluster.answer({ keys: failing(status) });
    await kubernetes.writeRole('server', { audience: serverAudience });
    const request = { audience: serverAudience };
    expect((await kubernetes.logInAs(request, 'server')).body.errors).toEqual([
      'the service account may not review its own token, and there is no token_reviewer_jwt',
    ]);
    cluster.permitReviews(account.uid);
    const jwt = await cluster.issue(request);
    expect((await kubernetes.logIn(jwt, 'server')).status).toBe(200);
    expect(cluster.received.at(-1)).toMatchObject({ bearer: jwt });
    expect(cluster.received.filter(({ path }) => path === '/openid/v1/jwks')).toHaveLength(1);
    expect((await kubernetes.logIn(await cluster.issueLegacy(), 'server')).status).toBe(200);
    cluster.remove(account.pod.uid);
    expect((await kubernetes.logIn(jwt, 'server')).body.errors).toEqual([
      'the cluster does not accept the token, and there is no token_reviewer_jwt',
    ]);
  });

  test('a failing cluster is no reason to ask in another way', async () => {
    await kubernetes.configure({});
    cluster.answer({ keys: failing(500) });
    expect((await kubernetes.logInAs()).status).toBe(503);
    expect(cluster.received.map(({ path }) => path)).toEqual(['/openid/v1/jwks']);
  });
});

describe('a renewal', () => {
  const renew = async (change: () => Promise<unknown>, role = 'renewed') => {
    await kubernetes.configure();
    await login.call('DELETE', `/auth/kubernetes/role/${role}`);
    await kubernetes.writeRole(role, { token_ttl: 600 });
    const issued = await kubernetes.logInAs({}, role);
    await change();
    const caller = login.callerOf(issued);
    return login.callWithToken(issued.body.auth.client_token, 'POST', '/auth/token/renew-self', {}, caller);
  };
  const rewrite = (body: object) => () => kubernetes.writeRole('renewed', body);

  test('is refused once the key that signed the token is removed from the configuration', async () => {
    await kubernetes.configure({ pem_keys: [cluster.pem] });
    await kubernetes.writeRole('renewed', { token_ttl: 600 });
    const { body } = await kubernetes.logInAs({}, 'renewed');
    const caller = login.callerOf({ body } as Parameters<typeof login.callerOf>[0]);
    const again = () =>
      login.callWithToken(body.auth.client_token, 'POST', '/auth/token/renew-self', {}, caller);
    expect((await again()).status).toBe(200);
    const other = await generateKeyPair('RS256', { extractable: true });
    await kubernetes.configure({ pem_keys: [await exportSPKI(other.publicKey)] });
    expect(await again()).toMatchObject({
      status: 403,
      body: { errors: ['the key that signed the token of this login is no longer among pem_keys'] },
    });
  });

  test('succeeds without a request to the cluster', async () => {
    const { status } = await renew(async () => {
      cluster.received.length = 0;
      cluster.remove(account.pod.uid);
    });
    expect(status).toBe(200);
    expect(cluster.received).toEqual([]);
  });

  test.each([
    ['the role was deleted', () => login.call('DELETE', '/auth/kubernetes/role/renewed'), /no longer exists/],
    ['names are others', rewrite({ bound_service_account_names: 'api' }), /bound_service_account_names/],
    [
      'namespaces are others',
      rewrite({ bound_service_account_namespaces: 'b' }),
      /bound_service_account_namespaces/,
    ],
    ['the audience is another', rewrite({ audience: 'other' }), /audience of this login/],
    ['the address is not permitted', rewrite({ token_bound_cidrs: '10.9.8.7' }), /token_bound_cidrs/],
    [
      'the cluster is another',
      () => login.call('POST', '/auth/kubernetes/config', { kubernetes_host: 'https://other.example' }),
      /cluster of this login/,
    ],
    [
      'the issuer is another',
      () => kubernetes.configure({ issuer: 'https://other.example' }),
      /cluster of this login/,
    ],
  ])('is refused if %s', async (_, change, reason) => {
    const { status, body } = await renew(change);
    expect([status, body.errors]).toEqual([403, [expect.stringMatching(reason)]]);
  });
});
