import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readInternalKeys } from '@secrets/caller';
import { federatedTypes, workerOf } from '@secrets/domain';
import { internalClient } from '@secrets/http';
import { serveForTest } from '@secrets/http/testing';
import { createLogin } from '@secrets/login';
import { openTestDb } from '@secrets/schemas/testing';
import { readKeyRing } from '@secrets/seal';
import { identityTokens } from '@secrets/sync-worker';
import { createMetrics, silentLogger } from '@secrets/telemetry';
import { KeysEnv } from '../../setup/src/config.ts';
import { workers } from '../../setup/src/database-roles.ts';
import { createKeys } from '../../setup/src/keys/create-keys.ts';

/** login and the workers with the key files that setup creates. */
describe('with the key files of an installation', () => {
  const folder = mkdtempSync(join(tmpdir(), 'token-requests-'));
  const keyFile = (...path: string[]) => join(folder, ...path);
  let db: Awaited<ReturnType<typeof openTestDb>>;
  let login: Awaited<ReturnType<typeof serveForTest>>;

  beforeAll(async () => {
    createKeys(KeysEnv.parse({ KEYS_DIR: folder }));
    db = await openTestDb();
    const keyRing = readKeyRing(keyFile('login', 'seal.key'));
    const keys = readInternalKeys(Date, keyFile('login', 'internal.key'), keyFile('login', 'worker.key'));
    const metrics = createMetrics('login', { processMetrics: false });
    login = await serveForTest(
      createLogin({ db, keyRing, keys, log: silentLogger(), metrics }).app,
      'login',
      keys,
    );
    await login.call('POST', '/identity/oidc/config', { issuer: 'https://secrets.example.com' });
  });
  afterAll(async () => {
    await login.stop();
    await db.close();
    rmSync(folder, { recursive: true });
  });

  /** Requests a token of a type with the keys of a worker, which claims to be `from`. */
  async function request(worker: string, type: string, from = worker): Promise<string> {
    const keys = readInternalKeys(Date, keyFile(worker, 'internal.key'));
    const client = internalClient({ from, to: 'login', url: login.url, keys });
    const destination = { name: 'main', namespacePath: '' };
    try {
      return await identityTokens(client, type).issue(destination, { audience: 'a', ttlSeconds: 60 });
    } finally {
      await client.close();
    }
  }

  test('the worker of each cloud type gets tokens of its own type only', async () => {
    for (const type of federatedTypes) {
      expect(await request(workerOf(type), type)).toMatch(/^eyJ/);
      for (const other of federatedTypes.filter((each) => each !== type)) {
        await expect(request(workerOf(type), other)).rejects.toMatchObject({ kind: 'unauthenticated' });
        await expect(request(workerOf(type), other, workerOf(other))).rejects.toThrow(/contains no key/);
      }
    }
  });

  test('each of these types has a worker, and the others have no key for login', () => {
    expect(workers).toEqual(expect.arrayContaining(federatedTypes.map(workerOf)));
    for (const worker of workers.filter((name) => !federatedTypes.map(workerOf).includes(name)))
      expect(() => readInternalKeys(Date, keyFile(worker, 'internal.key'))).toThrow(/ENOENT/);
  });
});
