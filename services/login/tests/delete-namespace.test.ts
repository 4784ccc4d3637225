import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type LoginForTest, loginForTest } from './login-for-test.ts';

const folder = mkdtempSync(join(tmpdir(), 'delete-namespace-'));
let login: LoginForTest;
beforeAll(async () => {
  login = await loginForTest({ rootTokenFile: join(folder, 'root-token') });
});
afterAll(async () => {
  await login.stop();
  rmSync(folder, { recursive: true });
});

test('a namespace that another service holds something in stays whole', async () => {
  const made = await login.call('POST', '/sys/namespaces/team', { custom_metadata: { x: '1' } });
  const policy = 'path "a" { capabilities = ["read"] }';
  const team = { ...login.root, namespace: { id: made.body.data.id, path: 'team' } };
  await login.call('PUT', '/sys/policies/acl/p', { policy }, team);
  // What mounts and destinations do, in schemas that this service does not see.
  await login.db.query('create table held (namespace_id text references login.namespaces)');
  await login.db.query('insert into held values ($1)', [made.body.data.id]);
  const refused = await login.call('DELETE', '/sys/namespaces/team');
  expect([refused.status, refused.body.errors]).toEqual([
    409,
    ['the namespace still holds mounts or sync destinations'],
  ]);
  expect((await login.call('GET', '/sys/policies/acl/p', undefined, team)).status).toBe(200);
  await login.db.query('delete from held');
  expect((await login.call('DELETE', '/sys/namespaces/team')).status).toBe(204);
});
