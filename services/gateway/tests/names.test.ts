import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { insertToken } from '@secrets/access/testing';
import { parseInternalKeys } from '@secrets/caller';
import { ask, startGateway, useGateway } from './gateway-for-test.ts';

const keys = parseInternalKeys(randomBytes(32).toString('base64'), 'test');
const { db, stubs, gateway } = useGateway(keys);
let root: string;
let other: string;

beforeAll(async () => {
  await db.query("insert into login.namespaces (id, path) values ('n1', 'team')");
  root = (await insertToken(db)).token;
  other = (await insertToken(db)).token;
});
beforeEach(() => {
  gateway.audit.length = 0;
});
/** The audit lines of requests, without those of outcomes. */
const auditLines = () =>
  gateway.audit.map((line) => JSON.parse(line)).filter(({ type }) => type === 'request');

describe('headers by the names of other clients', () => {
  test('are equivalent', async () => {
    const headers = { 'X-Vault-Token': root, 'X-Vault-Namespace': 'team/', 'X-Vault-Request': 'true' };
    const { status, body } = await ask(gateway, { headers });
    expect([status, body.data.caller.namespace.path]).toEqual([200, 'team']);
  });

  test('may accompany the own names with the same values', async () => {
    const headers = { 'X-Vault-Token': root, 'X-Vault-Namespace': 'team', 'X-Service-Namespace': 'team' };
    expect((await ask(gateway, { token: root, headers })).status).toBe(200);
  });

  test.each([
    ['Token', () => ({ 'X-Vault-Token': other })],
    ['Namespace', () => ({ 'X-Vault-Namespace': 'team', 'X-Service-Namespace': 'admin' })],
  ])('are refused if %s has another value than the own name', async (name, headers) => {
    expect(await ask(gateway, { token: root, headers: headers() })).toMatchObject({
      status: 400,
      body: { errors: [`X-Service-${name} and X-Vault-${name} have different values`] },
    });
    expect(auditLines()).toMatchObject([{ allowed: false }]);
    expect(JSON.stringify(auditLines())).not.toContain(other);
  });
});

test('a path that begins with a namespace reaches the service, and the audit, as with the header', async () => {
  const [byPath, byHeader] = [
    await ask(gateway, { token: root, path: '/v1/team/kv/data/a%20b' }),
    await ask(gateway, { token: root, path: '/v1/kv/data/a%20b', headers: { 'x-vault-namespace': 'team' } }),
  ];
  expect(byPath.body.data).toMatchObject({
    path: 'kv/data/a b',
    caller: { namespace: { id: 'n1', path: 'team' } },
  });
  const seen = ({ body: { data } }: typeof byPath) => ({
    ...data,
    caller: { ...data.caller, requestId: '' },
  });
  expect(seen(byPath)).toEqual(seen(byHeader));
  const [first, second] = auditLines().map(({ time, request_id, ...line }) => line);
  expect(first).toMatchObject({ namespace: 'team', path: 'kv/data/a b', allowed: true });
  expect(first).toEqual(second);
});

test('a path that begins with a namespace is routed by what follows', async () => {
  const { body } = await ask(gateway, { token: root, path: '/v1/team/sys/policies/acl/x' });
  expect(body.data.service).toBe('login');
});

describe('what clients ask without a token', () => {
  const own = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')).version;
  const versions = { version: '1.21.4+ent', service_version: own };

  test('health has the fields that they look for, whatever the query says', async () => {
    const { status, body, headers } = await ask(gateway, {
      path: '/v1/sys/health?standbyok=true&perfstandbyok=1',
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      initialized: true,
      sealed: false,
      standby: false,
      performance_standby: false,
      replication_performance_mode: 'disabled',
      replication_dr_mode: 'disabled',
      ...versions,
      cluster_name: 'secrets-service',
      cluster_id: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      ready: true,
      missing: [],
    });
    expect(headers['x-service-version']).toBe(own);
    expect(Math.abs(body.server_time_utc - Date.now() / 1_000)).toBeLessThan(10);
  });

  test('the state of the seal, the leader and the initialization are those of one gateway that is always open', async () => {
    const { body: seal } = await ask(gateway, { path: '/v1/sys/seal-status' });
    expect(seal).toMatchObject({ initialized: true, sealed: false, t: 1, n: 1, progress: 0, ...versions });
    const { body: leader } = await ask(gateway, { path: '/v1/sys/leader' });
    expect(leader).toMatchObject({ ha_enabled: false, is_self: false, leader_address: '' });
    expect((await ask(gateway, { path: '/v1/sys/init' })).body).toEqual({ initialized: true });
    expect(auditLines().map(({ path, allowed }) => [path, allowed])).toEqual([
      ['sys/seal-status', true],
      ['sys/leader', true],
      ['sys/init', true],
    ]);
  });

  test('every gateway of an installation has the same cluster ID, and another installation another one', async () => {
    const idOf = async (of: { url: string }) =>
      (await ask(of, { path: '/v1/sys/seal-status' })).body.cluster_id;
    const elsewhere = parseInternalKeys(randomBytes(32).toString('base64'), 'test');
    const [same, different] = [
      await startGateway({ db, keys, stubs }),
      await startGateway({ db, keys: elsewhere, stubs }),
    ];
    expect(await idOf(same)).toBe(await idOf(gateway));
    expect(await idOf(different)).not.toBe(await idOf(gateway));
    await Promise.all([same.stop(), different.stop()]);
  });

  test('these paths can only be read', async () => {
    for (const path of ['/v1/sys/init', '/v1/sys/seal-status']) {
      const refused = await ask(gateway, { method: 'PUT', path, token: root, body: '{}' });
      expect([refused.status, refused.headers.allow]).toEqual([405, 'GET']);
      expect((await ask(gateway, { method: 'PUT', path, body: '{}' })).status).toBe(403);
    }
    const health = await ask(gateway, { method: 'PUT', path: '/v1/sys/health', token: root, body: '{}' });
    expect([health.status, health.headers.allow]).toEqual([405, 'GET, HEAD']);
  });
});
