import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { tokenHash } from '@secrets/access';
import { assertionHeader, signAssertion } from '@secrets/caller';
import { testCaller } from '@secrets/http/testing';
import { sweepWrappedResponses } from '../../src/wrapping/sweep-wrapped.ts';
import { anonymous, type LoginForTest, startLoginForTest } from '../login-for-test.ts';

let login: LoginForTest;

beforeAll(async () => {
  login = await startLoginForTest();
});
afterAll(() => login.stop());

const text = '{"request_id":"old","data":{"password":"canary","number":12345678901234567890},"auth":null}';

/** Wraps a response, as the gateway does. */
const wrap = async (response = text, caller = login.root, ttl_seconds = 60) => {
  const body = { response, ttl_seconds, creation_path: 'kv/data/a' };
  return (await login.call('POST', '/sys/internal/wrapped-responses', body, caller)).body.data;
};
const unwrap = (token: string, caller = login.root) =>
  login.call('POST', '/sys/wrapping/unwrap', { token }, caller);
const refused = 'the wrapping token does not exist, has expired, or was used';

describe('a wrapped response', () => {
  test('is described by wrap_info, without any of its content', async () => {
    const info = await wrap();
    expect(info).toEqual({
      token: expect.stringMatching(/^swt_[\w-]{43}$/),
      accessor: expect.stringMatching(/^[A-Za-z0-9]{24}$/),
      ttl: 60,
      creation_time: expect.stringMatching(/^\d{4}-.*Z$/),
      creation_path: 'kv/data/a',
    });
  });

  test('names the accessor of the token that it contains', async () => {
    const { wrapped_accessor } = await wrap('{"auth":{"client_token":"t","accessor":"abc"}}');
    expect(wrapped_accessor).toBe('abc');
  });

  test('is stored encrypted, for its row only', async () => {
    const [one, other] = [await wrap(), await wrap()];
    const rows = await login.db.query<{ sealed: Buffer }>('select * from login.wrapped_responses');
    expect(JSON.stringify(rows)).not.toContain(one.token);
    expect(rows.some(({ sealed }) => Buffer.from(sealed).includes('canary'))).toBe(false);
    await login.db.query(
      'update login.wrapped_responses set sealed = (select sealed from login.wrapped_responses where hash = $1) where hash = $2',
      [tokenHash(one.token), tokenHash(other.token)],
    );
    expect((await unwrap(other.token)).status).toBe(500);
    expect((await unwrap(one.token)).status).toBe(200);
  });

  test('is returned once, with the ID of the new request and all digits of its numbers', async () => {
    const { token } = await wrap();
    const caller = testCaller({ requestId: 'new-1' });
    const answer = await fetchText(token, caller);
    expect(answer).toBe(text.replace('"old"', '"new-1"'));
    const again = await unwrap(token);
    expect([again.status, again.body.errors]).toEqual([400, [refused]]);
  });

  test('is returned to exactly one of many concurrent requests', async () => {
    const { token } = await wrap();
    const answers = await Promise.all(Array.from({ length: 20 }, () => unwrap(token)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(19);
  });

  test('is returned to whoever has sent its token as their own', async () => {
    const { token } = await wrap();
    const path = '/sys/wrapping/unwrap';
    expect((await login.callWithToken(token, 'POST', path, undefined, anonymous)).status).toBe(200);
    expect((await login.callWithToken(token, 'POST', path, undefined, anonymous)).status).toBe(400);
  });

  test('needs the capability update from the caller of another token', async () => {
    const { token } = await wrap();
    const caller = testCaller({ policies: ['dev'], grants: ['create'] });
    expect((await unwrap(token, caller)).status).toBe(403);
    expect((await unwrap(token, testCaller({ policies: ['dev'], grants: ['update'] }))).status).toBe(200);
  });

  test('is not returned after its TTL or without its namespace, and is deleted by the sweep', async () => {
    await login.call('POST', '/sys/namespaces/short');
    const { id } = (await login.call('GET', '/sys/namespaces/short')).body.data;
    const inShort = await wrap(text, testCaller({ namespace: { id, path: 'short' } }));
    await login.call('DELETE', '/sys/namespaces/short');
    const late = await wrap();
    const hash = tokenHash(late.token);
    await login.db.query('update login.wrapped_responses set expires_at = now() where hash = $1', [hash]);
    for (const { token } of [inShort, late]) expect((await unwrap(token)).status).toBe(400);
    await login.db.query(
      `insert into login.wrapped_responses (hash, accessor, namespace_id, sealed, ttl_seconds, creation_path, expires_at)
       select decode(md5(n::text), 'hex'), 'old' || n, 'root', '', 1, '', now() from generate_series(1, 1100) n`,
    );
    expect(await sweepWrappedResponses(login.db)).toBe(1_101);
    expect(await sweepWrappedResponses(login.db)).toBe(0);
  });

  test('is deleted with the accessor of its token, in its namespace or from above', async () => {
    const { id } = (await login.call('POST', '/sys/namespaces/beside')).body.data;
    const beside = testCaller({ namespace: { id, path: 'beside' } });
    const revoke = (accessor: string, caller = login.root) =>
      login.call('POST', '/auth/token/revoke-accessor', { accessor }, caller);
    const { token, accessor } = await wrap();
    expect((await revoke(accessor, beside)).status).toBe(404);
    expect((await revoke(accessor)).status).toBe(204);
    expect((await unwrap(token)).status).toBe(400);
    expect((await revoke(accessor)).status).toBe(404);
    expect((await revoke((await wrap(text, beside)).accessor)).status).toBe(204);
  });

  test('is looked up without being unwrapped', async () => {
    const { token, creation_time } = await wrap();
    const { body } = await login.call('POST', '/sys/wrapping/lookup', { token }, anonymous);
    expect(body.data).toEqual({ creation_path: 'kv/data/a', creation_time, creation_ttl: 60 });
    const own = await login.callWithToken(token, 'GET', '/sys/wrapping/lookup', undefined, anonymous);
    expect(own.body.data).toEqual(body.data);
    expect((await unwrap(token)).status).toBe(200);
    expect((await login.call('POST', '/sys/wrapping/lookup', { token }, anonymous)).status).toBe(400);
  });

  test('has another token after a rewrap, and the same content and TTL', async () => {
    const { token } = await wrap();
    const { body } = await login.call('POST', '/sys/wrapping/rewrap', { token });
    expect(body).toMatchObject({ data: null, wrap_info: { ttl: 60, creation_path: 'kv/data/a' } });
    expect((await unwrap(token)).status).toBe(400);
    expect((await unwrap(body.wrap_info.token)).body.data.password).toBe('canary');
  });
});

describe('the wrapped responses of a namespace', () => {
  const limit = 256 * 2 ** 20;
  const ofNamespace = async (name: string) => {
    const { id } = (await login.call('POST', `/sys/namespaces/${name}`)).body.data;
    return { id: id as string, caller: testCaller({ namespace: { id, path: name } }) };
  };
  const used = async (id: string) => {
    const rows = await login.db.query<{ bytes: number }>(
      'select bytes from login.wrapped_space where namespace_id = $1',
      [id],
    );
    return rows[0]?.bytes ?? 0;
  };
  const store = (caller: ReturnType<typeof testCaller>) => {
    const body = { response: text, ttl_seconds: 60, creation_path: 'kv/data/a' };
    return login.call('POST', '/sys/internal/wrapped-responses', body, caller);
  };

  test('take no more than 256 MiB together, however many are stored at the same time', async () => {
    const { id, caller } = await ofNamespace('full');
    await wrap(text, caller);
    const size = await used(id);
    const almost = limit - 2 * size - 1;
    await login.db.query('update login.wrapped_space set bytes = $2 where namespace_id = $1', [id, almost]);
    const answers = await Promise.all(Array.from({ length: 10 }, () => store(caller)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, ...Array(8).fill(429)]);
    expect(answers.find(({ status }) => status === 429)?.body.errors).toEqual([
      'the wrapped responses of this namespace take 256.0 MiB of 256 MiB: unwrap or revoke some',
    ]);
    expect(await used(id)).toBe(almost + 2 * size);
    expect((await store(login.root)).status).toBe(200);
  });

  test('free their space with each unwrapping, revocation and sweep, and keep it with a rewrap', async () => {
    const { id, caller } = await ofNamespace('freed');
    const [unwrapped, revoked, expired] = [
      await wrap(text, caller),
      await wrap(text, caller),
      await wrap(text, caller),
    ];
    const size = (await used(id)) / 3;
    expect(size).toBeGreaterThan(text.length);
    await unwrap(unwrapped.token);
    expect(await used(id)).toBe(2 * size);
    await login.call('POST', '/auth/token/revoke-accessor', { accessor: revoked.accessor });
    expect(await used(id)).toBe(size);
    const { wrap_info } = (await login.call('POST', '/sys/wrapping/rewrap', { token: expired.token })).body;
    expect(await used(id)).toBe(size);
    const hash = tokenHash(wrap_info.token);
    await login.db.query('update login.wrapped_responses set expires_at = now() where hash = $1', [hash]);
    await sweepWrappedResponses(login.db);
    expect(await used(id)).toBe(0);
  });

  test('are not counted if an instance of the version before has stored them', async () => {
    const { id, caller } = await ofNamespace('older');
    await wrap(text, caller);
    const size = await used(id);
    await login.db.query(
      `insert into login.wrapped_responses (hash, accessor, namespace_id, sealed, ttl_seconds, creation_path, expires_at)
       values ('\\x01', 'older', $1, '\\x02', 60, '', now())`,
      [id],
    );
    await sweepWrappedResponses(login.db);
    expect(await used(id)).toBe(size);
  });

  test('remain when the token that requested them ends', async () => {
    const created = await login.call('POST', '/auth/token/create', { policies: ['default'] });
    const { token } = await wrap(text, login.callerOf(created));
    const { accessor } = created.body.auth;
    expect((await login.call('POST', '/auth/token/revoke-accessor', { accessor })).status).toBe(204);
    expect((await unwrap(token)).status).toBe(200);
  });
});

test.each(['lookup', 'unwrap', 'rewrap'])('%s refuses what is not a wrapping token', async (name) => {
  const path = `/sys/wrapping/${name}`;
  for (const token of ['x', `swt_${'a'.repeat(43)}`, `sst_${'a'.repeat(43)}`]) {
    const { status, body } = await login.call('POST', path, { token });
    expect([status, body.errors]).toEqual([400, [refused]]);
  }
  expect((await login.call('POST', path)).body.errors).toEqual(['token is required']);
});

test('a wrapping token is no token for anything else', async () => {
  const { token, accessor } = await wrap();
  expect(await login.isAccepted(token)).toBe(false);
  for (const path of ['lookup', 'renew'])
    expect((await login.call('POST', `/auth/token/${path}`, { token })).status).toBe(404);
  expect((await login.call('POST', '/auth/token/lookup-accessor', { accessor })).status).toBe(404);
  expect((await unwrap(token)).status).toBe(200);
});

/** Unwraps a response without parsing it. */
async function fetchText(token: string, caller: ReturnType<typeof testCaller>): Promise<string> {
  const path = '/v1/sys/wrapping/unwrap';
  const body = JSON.stringify({ token });
  const asserted = { from: 'gateway', to: 'login', method: 'POST', path, body };
  const answer = await fetch(`${login.url}${path}`, {
    method: 'POST',
    headers: {
      [assertionHeader]: signAssertion(login.keys, asserted, caller),
      'content-type': 'application/json',
    },
    body,
  });
  return answer.text();
}
