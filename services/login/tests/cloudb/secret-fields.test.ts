import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { secretSetting } from '@secrets/domain';
import { parseKeyRing } from '@secrets/seal';
import { z } from 'zod';
import { encryptPage } from '../../../../libs/seal-rotation/src/encrypt-page.ts';
import { configDeclaration } from '../../src/auth-methods/cloudb/config/config-fields.ts';
import type { LoginForTest } from '../login-for-test.ts';

// own modules: adds to a declaration.
// A secret field that exists only here: its declaration and its column must be enough to protect it.
const field = 'fictitious_key';
Object.assign(configDeclaration, { [field]: secretSetting(z.string().max(100)) });
const { startLoginForTest } = await import('../login-for-test.ts');
const { sealedTablesOfMethods } = await import('../../src/auth-methods/registry.ts');
const { decryptSecret } = await import('../../src/auth-methods/cloudb/config/secret-fields.ts');

const path = '/auth/cloudB/config';
const secrets = { client_secret: 'canary-client-secret', [field]: 'canary-of-the-fictitious-key' };
const canary = 'canary';
let login: LoginForTest;

beforeAll(async () => {
  login = await startLoginForTest();
  await login.db.query(`alter table login.cloudb_configs add column sealed_${field} bytea`);
  await login.call('POST', '/sys/auth/cloudB', { type: 'cloudB' });
  const { status } = await login.call('POST', path, { tenant_id: 't', resource: 'r', ...secrets });
  expect(status).toBe(204);
});
afterAll(() => login.stop());

/** The stored row, with sealed bytes by their field. */
async function row(): Promise<{ mountId: string; text: string; sealed: Record<string, Uint8Array | null> }> {
  const [stored] = await login.db.query<{
    mountId: string;
    text: string;
    key: Uint8Array;
    secret: Uint8Array;
  }>(
    `select mount_id as "mountId", c::text as text, sealed_${field} as key, sealed_client_secret as secret
       from login.cloudb_configs c`,
  );
  const { mountId, text, key, secret } = stored!;
  return { mountId, text, sealed: { [field]: key, client_secret: secret } };
}
const reveal = async (keyRing = login.keyRing) => {
  const { mountId, sealed } = await row();
  return Object.fromEntries(
    Object.entries(sealed).map(([name, bytes]) => [
      name,
      bytes && decryptSecret(keyRing, mountId, name as 'client_secret', bytes).reveal(),
    ]),
  );
};

test('each secret field is sealed in the stored row, and absent from the answer and the log', async () => {
  const { text, sealed } = await row();
  for (const bytes of Object.values(sealed)) expect(Buffer.from(bytes!).includes(canary)).toBe(false);
  expect(text).not.toContain(canary);
  expect(await reveal()).toEqual(secrets);
  const { status, body } = await login.call('GET', path);
  expect([status, JSON.stringify(body)]).toEqual([
    200,
    expect.not.stringMatching(/canary|secret|fictitious/),
  ]);
  expect(login.logged()).not.toContain(canary);
});

test('a rotation of the seal keys encrypts each of them again', async () => {
  const { id, bytes } = login.keyRing.current;
  const newer = `newer:${randomBytes(32).toString('base64')}`;
  const both = parseKeyRing(`${newer}\n${id}:${bytes.toString('base64')}`, 'test');
  for (const table of sealedTablesOfMethods)
    await login.db.transaction((tx) => encryptPage(tx, both, table, undefined));
  expect(await reveal(parseKeyRing(newer, 'test'))).toEqual(secrets);
  await login.call('PATCH', path, secrets); // with the key of before
});

test('is kept by a write that omits it, but not sent elsewhere', async () => {
  expect((await login.call('POST', path, { max_retries: 1 })).status).toBe(204);
  expect(await reveal()).toEqual(secrets);
  const { status, body } = await login.call('POST', path, { tenant_id: 'other', client_secret: 'x' });
  expect([status, body.errors]).toEqual([400, [expect.stringMatching(/^fictitious_key is required if/)]]);
});

test('is removed by an empty text, and by null in a patch', async () => {
  await login.call('POST', path, { [field]: '' });
  expect((await row()).sealed[field]).toBeNull();
  await login.call('PATCH', path, { [field]: 'again' });
  await login.call('PATCH', path, { [field]: null });
  expect(await reveal()).toEqual({ ...secrets, [field]: null });
});
