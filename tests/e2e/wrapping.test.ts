import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Answer, expectStatus, send } from '../harness/http.ts';
import { type Installation, startInstallation } from '../harness/installation.ts';

let system: Installation;

beforeAll(async () => {
  system = await startInstallation();
  expectStatus(await system.api('POST', 'sys/mounts/kv', { type: 'kv' }), 204);
  expectStatus(await system.api('POST', 'kv/data/a', { data: { password: 'canary' } }), 200);
});
afterAll(() => system?.stop());

/** Sends a request whose response is to be wrapped. */
const wrapped = (
  method: string,
  path: string,
  { body, ttl = '1m', header = 'x-service-wrap-ttl', token = system.rootToken }: WrappedRequest = {},
): Promise<Answer> =>
  send(`${system.url}/v1/${path}`, method, { headers: { 'x-service-token': token, [header]: ttl }, body });

interface WrappedRequest {
  body?: unknown;
  ttl?: string;
  header?: string;
  token?: string;
}

const unwrap = (token: string, api = system.api) => api('POST', 'sys/wrapping/unwrap', { token });

test.each(['x-service-wrap-ttl', 'x-vault-wrap-ttl'])(
  '%s wraps a response, without its content',
  async (header) => {
    const { body } = expectStatus(await wrapped('GET', 'kv/data/a', { header }), 200);
    expect(body).toMatchObject({
      data: null,
      auth: null,
      wrap_info: { ttl: 60, creation_path: 'kv/data/a', token: expect.any(String) },
    });
    expect(JSON.stringify(body)).not.toContain('canary');
    expect((await unwrap(body.wrap_info.token)).body.data.data).toEqual({ password: 'canary' });
  },
);

test('a wrapped token is that of its accessor, and is unwrapped by the wrapping token itself', async () => {
  const request = { body: { policies: 'default' } };
  const { wrap_info } = expectStatus(await wrapped('POST', 'auth/token/create', request), 200).body;
  const holder = system.as(wrap_info.token);
  expect((await holder('GET', 'auth/token/lookup-self')).status).toBe(403);
  expect((await holder('GET', 'kv/data/a')).status).toBe(403);
  const { auth } = expectStatus(await holder('POST', 'sys/wrapping/unwrap'), 200).body;
  expect(auth.accessor).toBe(wrap_info.wrapped_accessor);
  expectStatus(await system.as(auth.client_token)('GET', 'auth/token/lookup-self'), 200);
  expectStatus(await holder('POST', 'sys/wrapping/unwrap'), 400);
});

test('a policy applies to unwrapping for someone else, and default permits it', async () => {
  const { wrap_info } = expectStatus(await wrapped('GET', 'kv/data/a'), 200).body;
  const tokenWith = async (body: object) =>
    expectStatus(await system.api('POST', 'auth/token/create', body), 200).body.auth.client_token;
  const without = await tokenWith({ policies: 'none', no_default_policy: true });
  expectStatus(await unwrap(wrap_info.token, system.as(without)), 403);
  expectStatus(await unwrap(wrap_info.token, system.as(undefined)), 403);
  expectStatus(await unwrap(wrap_info.token, system.as(await tokenWith({ policies: 'default' }))), 200);
});

test('sys/wrapping/wrap wraps its body, and requires a TTL', async () => {
  const body = { a: 'b', c: [1] };
  const { wrap_info } = expectStatus(await wrapped('POST', 'sys/wrapping/wrap', { body }), 200).body;
  const found = await system.as(undefined)('POST', 'sys/wrapping/lookup', { token: wrap_info.token });
  expect(expectStatus(found, 200).body.data).toMatchObject({
    creation_path: 'sys/wrapping/wrap',
    creation_ttl: 60,
  });
  expect((await unwrap(wrap_info.token)).body.data).toEqual(body);
  expect(expectStatus(await system.api('POST', 'sys/wrapping/wrap', body), 400).body.errors).toEqual([
    'the header x-service-wrap-ttl is required',
  ]);
});

test('a rewrapped response is not wrapped twice', async () => {
  const { wrap_info } = expectStatus(await wrapped('GET', 'kv/data/a'), 200).body;
  const again = await wrapped('POST', 'sys/wrapping/rewrap', { body: { token: wrap_info.token } });
  expect((await unwrap(again.body.wrap_info.token)).body.data.data).toEqual({ password: 'canary' });
});

test('errors and responses without content are not wrapped', async () => {
  expect(expectStatus(await wrapped('GET', 'kv/data/none'), 404).body).toEqual({ errors: [] });
  expect((await wrapped('DELETE', 'kv/data/a/b')).status).toBe(204);
  expect(expectStatus(await wrapped('GET', 'kv/data/a', { ttl: '0' }), 200).body.wrap_info).toBeNull();
});

test.each(['soon', '-1', '769h'])('a TTL of %s is refused, and nothing is done', async (ttl) => {
  const { body } = await wrapped('POST', 'kv/data/never', { ttl, body: { data: {} } });
  expect(body.errors).toEqual([expect.stringMatching(/^the header x-service-wrap-ttl must be /)]);
  expectStatus(await system.api('GET', 'kv/data/never'), 404);
});

test('a response of more than 1 MiB is refused', async () => {
  const data = { large: '"'.repeat(400_000) };
  expectStatus(await system.api('POST', 'kv/data/large', { data }), 200);
  expectStatus(await wrapped('GET', 'kv/data/large'), 413);
  const fits = { large: 'x'.repeat(900_000) };
  expectStatus(await system.api('POST', 'kv/data/large', { data: fits }), 200);
  const { wrap_info } = expectStatus(await wrapped('GET', 'kv/data/large'), 200).body;
  expect((await unwrap(wrap_info.token)).body.data.data).toEqual(fits);
});

test('clients cannot reach the path on which the gateway stores responses', async () => {
  const body = { response: '{}', ttl_seconds: 60, creation_path: 'x' };
  for (const path of [
    'sys/internal/wrapped-responses',
    'sys/internal/wrapped-responses/',
    'sys/internal%2Fwrapped-responses',
  ])
    expectStatus(await system.api('POST', path, body), 404);
});

test('the audit contains neither what was wrapped nor its wrapping token', async () => {
  const { wrap_info } = expectStatus(await wrapped('GET', 'kv/data/a'), 200).body;
  const audit = readFileSync(join(system.dataDir, 'audit.log'), 'utf8');
  expect(audit).toContain('kv/data/a');
  expect(audit).not.toContain('canary');
  expect(audit).not.toContain(wrap_info.token);
});

test('login of a command line stores the token that it was given', async () => {
  const { body } = await system.api('GET', 'auth/token/lookup-self');
  expect(body.data.id).toBe(system.rootToken);
  const created = await system.api('POST', 'auth/token/create', { policies: 'default' });
  const token = created.body.auth.client_token;
  expect((await system.as(token)('POST', 'auth/token/renew-self')).body.auth.client_token).toBe(token);
});
