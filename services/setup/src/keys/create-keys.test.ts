import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { tokenKind } from '@secrets/access';
import { parseInternalKeys, readInternalKeys } from '@secrets/caller';
import { federatedTypes, workerOf } from '@secrets/domain';
import { decrypt, encrypt, readKeyRing } from '@secrets/seal';
import { eventually } from '@secrets/testing';
import fc from 'fast-check';
import { KeysEnv } from '../config.ts';
import { workers } from '../database-roles.ts';
import { createKeys } from './create-keys.ts';

describe('keys', () => {
  let root: string;
  let env: KeysEnv;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'keys-'));
    env = KeysEnv.parse({ KEYS_DIR: root });
  });
  afterEach(() => rmSync(root, { recursive: true }));

  const names = () =>
    readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
      (name) => statSync(join(root, name), { throwIfNoEntry: false })?.isFile(), // a running process removes drafts
    );
  const everything = () =>
    Object.fromEntries(names().map((name) => [name, readFileSync(join(root, name), 'utf8')]));
  const read = (name: string) => readFileSync(join(root, name), 'utf8').trim();

  test('creates one folder per service, with only the files that it needs', () => {
    createKeys(env);
    const byFolder = Object.groupBy(
      names().map((name) => name.split('/')),
      ([folder]) => folder!,
    );
    const { setup, ...services } = Object.fromEntries(
      Object.entries(byFolder).map(([folder, files]) => [folder, files!.map(([, name]) => name).sort()]),
    );
    expect(setup).toContain('database-url');
    expect(services).toEqual({
      gateway: ['database-url', 'internal.key', 'row.key'],
      login: ['database-url', 'internal.key', 'root-token', 'row.key', 'seal.key', 'worker.key'],
      secrets: ['amqp-url', 'database-url', 'internal.key', 'row.key', 'seal.key', 'worker.key'],
      'sync-control': ['amqp-url', 'database-url', 'internal.key', 'row.key', 'seal.key'],
      ...Object.fromEntries(workers.map((worker) => [worker, ['amqp-url', 'database-url', 'seal.key']])),
      ...Object.fromEntries(
        federatedTypes.map((type) => [
          workerOf(type),
          ['amqp-url', 'database-url', 'internal.key', 'seal.key', 'secrets.key'],
        ]),
      ),
      'sync-worker-webhost-project': ['amqp-url', 'database-url', 'seal.key', 'secrets.key'],
      postgres: ['password'],
      rabbitmq: ['password'],
    });
    for (const name of names()) expect(statSync(join(root, name)).mode & 0o777).toBe(0o400);
  });

  test('no service has the key of a call between two others', () => {
    createKeys(env);
    const keysOf = (service: string) =>
      readInternalKeys(
        Date,
        join(root, service, 'internal.key'),
        ...(['login', 'secrets'].includes(service) ? [join(root, service, 'worker.key')] : []),
      );
    expect(keysOf('gateway').keyFor('gateway', 'secrets')).toEqual(
      keysOf('secrets').keyFor('gateway', 'secrets'),
    );
    expect(keysOf('sync-control').keyFor('sync-control', 'secrets')).toEqual(
      keysOf('secrets').keyFor('sync-control', 'secrets'),
    );
    expect(keysOf('login').keyFor('login', 'batch-tokens')).toEqual(
      keysOf('gateway').keyFor('login', 'batch-tokens'),
    );
    expect(keysOf('sync-worker-cloudb-kv').keyFor('sync-worker-cloudb-kv', 'login')).toEqual(
      keysOf('login').keyFor('sync-worker-cloudb-kv', 'login'),
    );
    expect(
      readInternalKeys(Date, join(root, 'sync-worker-webhost-project/secrets.key')).keyFor(
        'sync-worker-webhost-project',
        'secrets',
      ),
    ).toEqual(keysOf('secrets').keyFor('sync-worker-webhost-project', 'secrets'));
    expect(() => keysOf('sync-worker-cloudb-kv').keyFor('sync-worker-clouda-sm', 'login')).toThrow(
      /contains no key/,
    );
    expect(() => keysOf('login').keyFor('gateway', 'secrets')).toThrow(/contains no key/);
    expect(() => keysOf('secrets').keyFor('gateway', 'login')).toThrow(/contains no key/);
    expect(() => keysOf('gateway').keyFor('sync-control', 'secrets')).toThrow(/contains no key/);
    expect(() => parseInternalKeys(read('setup/internal.key'), 'x').keyFor('a', 'b')).not.toThrow();
  });

  test('only workers open both secret values and destination credentials', () => {
    createKeys(env);
    const keyRingOf = (service: string) => readKeyRing(join(root, service, 'seal.key'));
    for (const service of ['secrets', 'sync-control']) {
      const sealed = encrypt(keyRingOf(service), 'row', Buffer.from('value'));
      expect(decrypt(keyRingOf('sync-worker-clouda-sm'), 'row', sealed).toString()).toBe('value');
      expect(() => decrypt(keyRingOf('login'), 'row', sealed)).toThrow();
      expect(() =>
        decrypt(keyRingOf(service === 'secrets' ? 'sync-control' : 'secrets'), 'row', sealed),
      ).toThrow();
    }
  });

  test('the root token is a service token, and URLs contain user, password, host and database', () => {
    createKeys(KeysEnv.parse({ KEYS_DIR: root, DATABASE_ADDRESS: 'db.example:6543/vault' }));
    expect(tokenKind(read('login/root-token'))).toBe('service');
    const url = new URL(read('sync-worker-clouda-sm/database-url'));
    expect([url.username, url.host, url.pathname]).toEqual([
      'sync_worker_clouda_sm',
      'db.example:6543',
      '/vault',
    ]);
    expect(url.password).toBe(read('setup/sync_worker_clouda_sm.password'));
    const broker = new URL(read('sync-worker-clouda-sm/amqp-url'));
    expect([broker.username, broker.host]).toEqual(['sync-worker-clouda-sm', 'rabbitmq:5672']);
    expect(broker.password).toBe(read('setup/broker-sync-worker-clouda-sm.password'));
    expect(new URL(read('setup/broker-url')).password).toBe(read('rabbitmq/password'));
    expect(new URL(read('setup/database-url')).password).toBe(read('postgres/password'));
  });

  test('contain URLs with TLS, and the passwords of users that exist, for servers that somebody else runs', () => {
    mkdirSync(join(root, 'setup'));
    writeFileSync(join(root, 'setup/owner.password'), 'pass@word/1\n');
    createKeys(
      KeysEnv.parse({
        KEYS_DIR: root,
        DATABASE_OWNER: 'setup',
        DATABASE_ADDRESS: 'db.example.com:5432/secrets?sslmode=verify-full',
        AMQP_ADDRESS: 'amqps://mq.example.com:5671',
        BROKER_ADDRESS: 'https://mq.example.com:443',
      }),
    );
    expect(read('setup/database-url')).toBe(
      'postgres://setup:pass%40word%2F1@db.example.com:5432/secrets?sslmode=verify-full',
    );
    expect(new URL(read('login/database-url')).search).toBe('?sslmode=verify-full');
    const broker = new URL(read('secrets/amqp-url'));
    expect([broker.protocol, broker.username, broker.host]).toEqual([
      'amqps:',
      'secrets',
      'mq.example.com:5671',
    ]);
    expect(read('setup/broker-url')).toMatch(/^https:\/\/setup:[\w-]+@mq\.example\.com:443$/);
    expect(() => KeysEnv.parse({ AMQP_ADDRESS: 'https://mq.example.com' })).toThrow();
  });

  test('only the services that decide about access have the row key, bound unless the installation is older than it', () => {
    createKeys(env);
    expect(
      names()
        .filter((name) => name.endsWith('/row.key'))
        .sort(),
    ).toEqual(['gateway', 'login', 'secrets', 'setup', 'sync-control'].map((folder) => `${folder}/row.key`));
    expect(read('gateway/row.key')).toBe(read('login/row.key'));
    expect(readKeyRing(join(root, 'login/row.key')).current.isBound).toBe(true);
    for (const folder of ['gateway', 'login', 'secrets', 'setup', 'sync-control'])
      rmSync(join(root, folder, 'row.key'));
    createKeys(env);
    expect(readKeyRing(join(root, 'login/row.key')).current.isBound).toBe(false);
  });

  test('a second run changes nothing, not even a file that the operator changed', () => {
    createKeys(env);
    rmSync(join(root, 'secrets/seal.key'));
    writeFileSync(join(root, 'secrets/seal.key'), 'secrets2:of the operator\n');
    const before = everything();
    createKeys(env);
    expect(everything()).toEqual(before);
  });

  test('restores lost files from the folder setup, with the same content', () => {
    createKeys(env);
    const before = everything();
    const derived = names().filter((name) => !name.startsWith('setup/') || name.endsWith('-url'));
    fc.assert(
      fc.property(fc.subarray(derived), (lost) => {
        for (const name of lost) rmSync(join(root, name));
        createKeys(env);
        expect(everything()).toEqual(before);
      }),
      { numRuns: 30 },
    );
  });

  test('refuses to generate keys when only the folder setup is empty', () => {
    createKeys(env);
    const before = everything();
    for (const name of readdirSync(join(root, 'setup'))) rmSync(join(root, 'setup', name));
    expect(() => createKeys(env)).toThrow(/setup is empty.*restore setup from your backup/);
    expect(Object.keys(everything())).toEqual(
      Object.keys(before).filter((name) => !name.startsWith('setup/')),
    );
  });

  test('concurrent runs agree, and a killed run leaves only complete files', async () => {
    const program = new URL('../main.ts', import.meta.url).pathname;
    const start = () =>
      spawn(process.execPath, [program, 'keys'], { env: { KEYS_DIR: root }, stdio: 'ignore' });
    const ended = (child: ReturnType<typeof start>) => new Promise((resolve) => child.once('exit', resolve));
    const killed = start();
    await eventually(() => names().length > 0, { intervalMs: 1 });
    killed.kill('SIGKILL');
    await ended(killed);
    const kept = Object.entries(everything()).filter(([name]) => !name.split('/')[1]!.startsWith('.'));
    for (const [, content] of kept) expect(content).toMatch(/\n$/);
    expect(await Promise.all([start(), start()].map(ended))).toEqual([0, 0]);
    const after = everything();
    for (const [name, content] of kept) expect(after[name]).toBe(content);
    expect(new URL(after['secrets/amqp-url']!.trim()).password).toBe(
      after['setup/broker-secrets.password']!.trim(),
    );
  });
});
