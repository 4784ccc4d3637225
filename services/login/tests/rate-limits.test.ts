import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type AccessRequest, createAuthenticator } from '@secrets/access';
import { createIn, type LoginForTest, startLoginForTest } from './login-for-test.ts';

let login: LoginForTest;
let rootToken: string;
let now = Date.now();

beforeAll(async () => {
  login = await startLoginForTest();
  rootToken = (await createIn(login)({ policies: ['root'] })).body.auth.client_token;
  for (const path of ['team', 'team/inner', 'admin']) await login.call('POST', `/sys/namespaces/${path}`, {});
});
afterAll(() => login.stop());
beforeEach(async () => {
  const listed = await login.call('LIST', '/sys/quotas/rate-limit');
  for (const name of listed.body.data?.keys ?? [])
    await login.call('DELETE', `/sys/quotas/rate-limit/${name}`);
  now = Math.ceil(now / 60_000 + 1) * 60_000; // the beginning of an interval of any length
});

const write = (name: string, body: object) => login.call('POST', `/sys/quotas/rate-limit/${name}`, body);
const read = async (name: string) => (await login.call('GET', `/sys/quotas/rate-limit/${name}`)).body.data;

function newGateway() {
  const authenticator = createAuthenticator({ db: login.db, keys: login.keys, clock: () => now });
  const send = async (over: Partial<AccessRequest>) => {
    const decision = await authenticator.authenticate({
      ...{ token: rootToken, namespace: undefined, operation: 'read', path: 'kv/data/a' },
      ...{ remoteAddress: '10.0.0.1', requestId: 'r', ...over },
    });
    return decision.allowed ? undefined : decision.problem;
  };
  /** Sends ten requests, and returns the number that a rate limit refused. */
  const refusals = async (over: Partial<AccessRequest>) => {
    const problems = await Promise.all(Array.from({ length: 10 }, () => send(over)));
    return problems.filter((problem) => problem?.kind === 'rate_limited').length;
  };
  return { send, refusals };
}

describe('a rate limit', () => {
  test('is written, read, listed, updated and deleted', async () => {
    expect((await write('small', { rate: '2.5', path: 'team/kv/', interval: '1m' })).status).toBe(204);
    expect(await read('small')).toEqual({
      ...{ type: 'rate-limit', name: 'small', path: 'team/kv/', rate: 2.5, interval: 60, block_interval: 0 },
      ...{ inheritable: false, group_by: 'ip', role: '' },
    });
    expect((await login.call('PUT', '/sys/quotas/rate-limit/small', { block_interval: 30 })).status).toBe(
      204,
    );
    expect(await read('small')).toMatchObject({ path: 'team/kv/', rate: 2.5, block_interval: 30 });
    await write('global', { rate: 100 });
    expect(await read('global')).toMatchObject({ path: '', interval: 1, inheritable: true });
    const listed = await login.call('LIST', '/sys/quotas/rate-limit');
    expect(listed.body.data.keys).toEqual(['global', 'small']);
    for (const _time of [1, 2])
      expect((await login.call('DELETE', '/sys/quotas/rate-limit/small')).status).toBe(204);
    expect((await login.call('GET', '/sys/quotas/rate-limit/small')).status).toBe(404);
  });

  test.each([
    [{}, 400, /rate is required/],
    [{ rate: 0 }, 400, /rate: must be greater than 0/],
    [{ rate: 'many' }, 400, /rate: must be a number/],
    [{ rate: true }, 400, /rate: must be a number/],
    [{ rate: 1, interval: 0 }, 400, /interval: must be at least 1 second/],
    [{ rate: 1, role: 'web' }, 400, /role: is not supported/],
    [{ rate: 1, path: 'kv/*' }, 400, /path: must not contain/],
    [{ rate: 1, inheritable: false }, 400, /inheritable/],
    [{ rate: 1, path: '/taken/' }, 409, /another rate limit/],
  ])('is refused: %j', async (body, status, reason) => {
    await write('first', { rate: 1, path: 'taken' });
    const response = await write('second', body);
    expect([response.status, response.body.errors[0]]).toEqual([status, expect.stringMatching(reason)]);
  });

  test('belongs to the root and the administrative namespace', async () => {
    const inTeam = { ...login.root, namespace: { id: 'n', path: 'team' } };
    for (const method of ['LIST', 'GET', 'POST', 'DELETE']) {
      const path = method === 'LIST' ? '/sys/quotas/rate-limit' : '/sys/quotas/rate-limit/x';
      const body = method === 'POST' ? { rate: 1 } : undefined;
      expect((await login.call(method, path, body, inTeam)).status).toBe(404); // the gateway refuses it before
    }
    const inAdmin = { ...login.root, namespace: { id: 'admin', path: 'admin' } };
    expect((await login.call('POST', '/sys/quotas/rate-limit/x', { rate: 1 }, inAdmin)).status).toBe(204);
  });

  test('ends with its namespace', async () => {
    await login.call('POST', '/sys/namespaces/leaving', {});
    await write('leaving', { rate: 1, path: 'leaving' });
    await login.call('DELETE', '/sys/namespaces/leaving');
    expect(await read('leaving')).toBeUndefined();
  });
});

describe('requests', () => {
  test('beyond a rate limit are refused with the time to wait, each address for itself', async () => {
    await write('global', { rate: 4, interval: 20 });
    const { refusals, send } = newGateway();
    expect(await refusals({})).toBe(6);
    expect(await send({})).toMatchObject({
      kind: 'rate_limited',
      message: 'the rate limit global is exceeded',
      retryAfterSeconds: 20,
    });
    expect(await refusals({ remoteAddress: '10.0.0.2' })).toBe(6);
    now += 20_000;
    expect(await refusals({})).toBe(6);
  });

  test('of all addresses count together with group_by none, if they are permitted', async () => {
    await write('global', { rate: 4, group_by: 'none' });
    const { refusals, send } = newGateway();
    for (let stranger = 0; stranger < 10; stranger += 1)
      expect(await send({ token: `sst_${'x'.repeat(43)}` })).toMatchObject({ kind: 'forbidden' });
    expect(await refusals({})).toBe(6);
    expect(await refusals({ remoteAddress: '10.0.0.2' })).toBe(10);
  });

  test('are refused for the block interval once the limit is exceeded', async () => {
    await write('global', { rate: 4, block_interval: 50 });
    const { refusals } = newGateway();
    expect(await refusals({})).toBe(6);
    now += 49_000;
    expect(await refusals({})).toBe(10);
    now += 2_000;
    expect(await refusals({})).toBe(6);
  });

  test('count for the most specific rate limit alone', async () => {
    await write('global', { rate: 1 });
    await write('mount', { rate: 3, path: 'kv' });
    await write('path', { rate: 5, path: 'kv/data/a' });
    await write('team', { rate: 7, path: 'team' });
    await write('in-team', { rate: 8, path: 'team/kv' });
    const { refusals } = newGateway();
    expect(await refusals({ path: 'kvs/data/a' })).toBe(9);
    expect(await refusals({ path: 'kv/data/b' })).toBe(7);
    expect(await refusals({ path: 'kv/data/a/b' })).toBe(5);
    expect(await refusals({ namespace: 'team', path: 'sys/mounts' })).toBe(3);
    expect(await refusals({ namespace: 'team', path: 'kv/data/a' })).toBe(2);
  });

  test('in namespaces below count for a rate limit of a namespace if it is inheritable', async () => {
    await write('team', { rate: 6, path: 'team' });
    const inner = { namespace: 'team/inner' };
    expect(await newGateway().refusals(inner)).toBe(0);
    await write('team', { inheritable: true });
    expect(await newGateway().refusals(inner)).toBe(4);
  });

  test('meet a new rate limit at the latest after five seconds', async () => {
    const { refusals } = newGateway();
    expect(await refusals({})).toBe(0);
    await write('global', { rate: 1 });
    now += 6_000;
    let refused = await refusals({});
    for (let second = 0; second < 100 && refused !== 9; second += 1) {
      now += 1_000;
      refused = await refusals({});
    }
    expect(refused).toBe(9);
  });
});
