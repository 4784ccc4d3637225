import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { openPostgres } from '@secrets/db';
import { createTestDb } from '@secrets/db/testing';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { describeSchemas } from '../../../../libs/schemas/src/describe-schemas.ts';
import { eventually, eventuallyEqual } from '../../../../tests/harness/eventually.ts';
import { type Api, client, expectStatus } from '../../../../tests/harness/http.ts';
import { sandboxControl } from '../../../../tests/harness/sandbox-control.ts';
import type { Standalone } from '../../../standalone/src/app.ts';
import { startStandaloneForTest, withFolder } from '../../../standalone/tests/standalone-for-test.ts';
import { contentOf, passphrase, run } from './archive-for-test.ts';

const canary = 'canary-2f9c1';
const keyNames = ['seal.key', 'row.key', 'internal.key', 'root-token'];

const rootToken = (folder: string): string => readFileSync(join(folder, 'root-token'), 'utf8').trim();

/** Secrets, policies, roles, a namespace, a token, a destination, and associations: one that is synced, one that waits. */
async function fill({ url, sandbox }: Standalone, api: Api): Promise<{ token: string }> {
  const done = async (method: string, path: string, body?: unknown, status = 204) =>
    expectStatus(await api(method, path, body), status).body;
  await done('POST', 'sys/mounts/kv', { type: 'kv', options: { version: '2' } });
  for (const version of [1, 2])
    await done('POST', 'kv/data/a/b', { data: { password: `${canary}\t\\.\n${version}` } }, 200);
  await done('POST', 'kv/data/waits', { data: { password: canary } }, 200);
  await done('POST', 'kv/metadata/a/b', { custom_metadata: { owner: 'tëam\\N' } });
  await done('POST', 'sys/namespaces/team', {}, 200);
  await done('PUT', 'sys/policies/acl/reader', { policy: 'path "kv/data/a/*" { capabilities = ["read"] }' });
  await done('POST', 'auth/token/roles/ci', { allowed_policies: ['reader'] });
  const { auth } = await done('POST', 'auth/token/create', { policies: ['reader'] }, 200);
  const destination = 'sys/sync/destinations/cloudA-sm/main';
  const credentials = await sandboxControl(sandbox!.url).credentials();
  await done('POST', destination, { ...credentials, region: 'eu-west-1' }, 200);
  await done('POST', `${destination}/associations/set`, { mount: 'kv', secret_name: 'a/b' }, 200);
  await done('PATCH', 'sys/sync/config', { disabled: true }, 200);
  await done('POST', `${destination}/associations/set`, { mount: 'kv', secret_name: 'waits' }, 200);
  expect(await statusOf(client(url, rootTokenOf(api)), 'a/b')).toBe('SYNCED');
  return { token: auth.client_token };
}

const tokens = new WeakMap<Api, string>();
const rootTokenOf = (api: Api): string => tokens.get(api)!;

function rootClient(standalone: Standalone, folder: string): Api {
  const api = client(standalone.url, rootToken(folder));
  tokens.set(api, rootToken(folder));
  return api;
}

async function statusOf(api: Api, secret: string): Promise<string | undefined> {
  const { body } = await api('GET', `sys/sync/associations/kv/${secret}`);
  const destinations: Record<string, { sync_status: string }> = body?.data?.associated_destinations ?? {};
  return Object.values(destinations)[0]?.sync_status;
}

test('what was backed up is there after a restore, the service reads it, and what was waiting goes on once it is confirmed', () =>
  withFolder(async (folder) => {
    const [db, target] = [await createTestDb(), await createTestDb()];
    const data = { DATA_DIR: folder, DATABASE_URL: db.url };
    const standalone = await startStandaloneForTest(data);
    const { token } = await fill(standalone, rootClient(standalone, folder)).finally(standalone.stop);
    const file = join(folder, 'b.age');
    const key = await generateX25519Identity();
    const identity = join(folder, 'backup-identity');
    writeFileSync(identity, `# created by a test\n${key}\n`);
    const settings = join(folder, 'settings.env');
    writeFileSync(settings, 'RECONCILE_SECONDS=60\n');
    const recipient = await identityToRecipient(key);
    const toArchive = { BACKUP_FILE: file, BACKUP_RECIPIENTS: recipient, BACKUP_SETTINGS_FILES: settings };
    const before = await contentOf(db.url);
    const outputs = [await run('backup', { ...data, ...toArchive })];
    const fromArchive = { BACKUP_FILE: file, BACKUP_IDENTITY_FILE: identity, DATA_DIR: folder };
    outputs.push(await run('verify-backup', { ...fromArchive, DATABASE_URL: db.url }));
    const unpacked = join(folder, 'unpacked');
    const into = { DATABASE_URL: target.url, RESTORE_SETTINGS_DIR: unpacked };
    outputs.push(await run('restore', { ...fromArchive, ...into }));

    expect(await contentOf(target.url)).toEqual(before);
    expect(await describeSchemas(target, ['login', 'secrets', 'sync'])).toBe(
      await describeSchemas(db, ['login', 'secrets', 'sync']),
    );
    expect(readFileSync(join(unpacked, 'settings.env'), 'utf8')).toBe('RECONCILE_SECONDS=60\n');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const verified = /"rows":(\d+),"opened":(\d+),"boundRows":(\d+)/.exec(outputs[1]!.stdout)!.map(Number);
    expect(verified[2]).toBeGreaterThanOrEqual(4); // three versions and the credentials of a destination
    expect(verified[3]).toBeGreaterThanOrEqual(3); // two tokens and a policy
    const scratch = await db.query(
      `select datname from pg_database where datname like (select format('verify_backup_%s_%%', oid) from pg_database where datname = current_database())`,
    );
    expect(scratch).toEqual([]);
    const sealKey = readFileSync(join(folder, 'seal.key'), 'utf8').trim().slice(3, 40);
    for (const { stdout, stderr } of [...outputs, { stdout: readFileSync(file, 'latin1'), stderr: '' }])
      for (const secret of [canary, rootToken(folder), token, key, sealKey, 'RECONCILE'])
        expect(stdout + stderr).not.toContain(secret);

    const restored = await startStandaloneForTest({ ...data, DATABASE_URL: target.url });
    try {
      const api = rootClient(restored, folder);
      const read = await client(restored.url, token)('GET', 'kv/data/a/b');
      expect(read.body.data.data).toEqual({ password: `${canary}\t\\.\n2` });
      expect((await api('GET', 'kv/metadata/a/b')).body.data.custom_metadata).toEqual({ owner: 'tëam\\N' });
      expectStatus(await api('GET', 'auth/token/roles/ci'), 200);
      await api('PATCH', 'sys/sync/config', { disabled: false });
      expect((await api('GET', 'sys/sync/status')).body.data.held_because).toBe('database');
      expect(await statusOf(api, 'waits')).toBe('PENDING');
      expectStatus(await api('POST', 'sys/sync/confirm-installation'), 200);
      await eventuallyEqual(() => statusOf(api, 'waits'), 'SYNCED');
      expectStatus(await api('POST', 'kv/data/new', { data: { a: 'b' } }), 200); // sequences continue
    } finally {
      await restored.stop();
      await db.close();
      await target.close();
    }
  }));

test('an embedded database is backed up while the service runs, and restored into a folder with nothing but the keys', () =>
  withFolder(async (folder) => {
    const [source, target, archives] = ['source', 'target', 'archives'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    const standalone = await startStandaloneForTest({ DATA_DIR: source, SANDBOX: 'off' });
    const api = rootClient(standalone, source);
    const secret = { BACKUP_PASSPHRASE: passphrase };
    let file = '';
    try {
      expectStatus(await api('POST', 'sys/mounts/kv', { type: 'kv', options: { version: '2' } }), 204);
      expectStatus(await api('POST', 'kv/data/a', { data: { password: canary } }), 200);
      const env = { ...secret, DATA_DIR: source, BACKUP_DIR: archives, BACKUP_KEEP: '1' };
      await run('backup', env);
      const [older] = readdirSync(archives);
      const { stdout } = await run('backup', env);
      const [newest, ...others] = readdirSync(archives);
      expect([others, newest === older]).toEqual([[], false]);
      file = join(archives, newest!);
      for (const name of keyNames) expect(stdout).toContain(join(source, name));
      await run('verify-backup', { ...secret, DATA_DIR: source, BACKUP_FILE: file });
      const intoRunning = run('restore', {
        ...secret,
        DATA_DIR: source,
        BACKUP_FILE: file,
        RESTORE_REPLACES: 'on',
      });
      await expect(intoRunning).rejects.toMatchObject({
        stdout: expect.stringMatching(/in use by another process/),
      });
    } finally {
      await standalone.stop();
    }
    mkdirSync(target);
    for (const name of keyNames) copyFileSync(join(source, name), join(target, name));
    await run('restore', { ...secret, DATA_DIR: target, BACKUP_FILE: file });
    const restored = await startStandaloneForTest({ DATA_DIR: target, SANDBOX: 'off' });
    try {
      const read = await client(restored.url, rootToken(target))('GET', 'kv/data/a');
      expect(read.body.data.data).toEqual({ password: canary });
    } finally {
      await restored.stop();
    }
  }));

test('after a backup, the age of the newest one is a metric of the service', async () => {
  const db = await createTestDb();
  await withFolder(async (folder) => {
    const standalone = await startStandaloneForTest({
      DATA_DIR: folder,
      DATABASE_URL: db.url,
      SANDBOX: 'off',
    });
    const age = async () => {
      const text = await (await fetch(`${standalone.internalUrl}/metrics`)).text();
      return Number(/^backup_age_seconds(?:\{.*\})? (\S+)$/m.exec(text)?.[1]);
    };
    try {
      const owner = openPostgres({ url: db.url, connections: 1 });
      await owner.query(`update secrets.last_backup set at = now() - interval '3 days'`).finally(owner.close);
      await eventually(age, (seconds) => seconds > 250_000);
      await run('backup', {
        DATABASE_URL: db.url,
        BACKUP_FILE: join(folder, 'b.age'),
        BACKUP_PASSPHRASE: passphrase,
      });
      await eventually(age, (seconds) => seconds < 120);
    } finally {
      await standalone.stop();
    }
  });
  await db.close();
});
