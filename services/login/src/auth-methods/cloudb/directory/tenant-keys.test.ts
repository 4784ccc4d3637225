import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { type Sandbox, startSandbox } from '@secrets/sandbox';
import { directories } from './environments.ts';
import { TenantKeys } from './tenant-keys.ts';
import { verifyDirectoryToken } from './verify-directory-token.ts';

const resource = 'https://resource.example';
/** The tenant of accounts that belong to no organization. */
const personalAccounts = '9188040d-6c67-4c5b-b112-36a304b66dad';
const minute = 60_000;
let sandbox: Sandbox;
let now = 0;
let keys: TenantKeys;

beforeAll(async () => {
  sandbox = await startSandbox();
});
beforeEach(() => {
  sandbox.reset();
  now = Date.now();
  const tenant = {
    authority: sandbox.directoryUrl,
    environment: 'public' as const,
    tenantId: sandbox.tenantId,
  };
  keys = new TenantKeys(tenant, () => now);
});
afterAll(() => sandbox.stop());

/** Serves the documents of a directory with these keys. */
async function serveDirectory(keys: object[]) {
  const issuer = `${directories.public.issuersV2[0]}/${sandbox.tenantId}/v2.0`;
  const server = createServer((request, response) => {
    const jwks_uri = `http://${request.headers.host}/keys`;
    response.end(JSON.stringify(request.url === '/keys' ? { keys } : { issuer, jwks_uri }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    authority: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  };
}

const verify = () => verifyWith({});
const verifyWith = async (options: { kid?: string }, known = keys) => {
  const token = await sandbox.directory.issueToken({ oid: 'o', audience: resource, ...options });
  const config = { environment: 'public' as const, tenant_id: sandbox.tenantId, resource };
  return verifyDirectoryToken(token, known.find, config, new Date()).then(
    () => 'verified',
    (error: Error) => error.message,
  );
};
const calls = () => sandbox.directory.calls().length;
const nextPoll = () => sleep(5);

describe('a key whose entry names an issuer', () => {
  const { issuerV1, issuersV2 } = directories.public;
  const v2 = issuersV2[0];
  const template = `${v2}/{tenantid}/v2.0`;

  /** Verifies a token with the sandbox's keys, each with this issuer. */
  async function outcomeWith(issuer: unknown): Promise<string> {
    const { authority, stop } = await serveDirectory(
      sandbox.directory.publishedKeys().map((key) => ({ ...key, issuer })),
    );
    const known = new TenantKeys({ authority, environment: 'public', tenantId: sandbox.tenantId });
    return verifyWith({}, known).finally(stop);
  }

  test('verifies tokens if that is an issuer of the tenant, or a template of one', async () => {
    const tenant = sandbox.tenantId;
    for (const issuer of [
      `${issuerV1}/${tenant}/`,
      `${v2}/${tenant}/v2.0`,
      `${v2}/${tenant.toUpperCase()}/v2.0`,
      template,
    ])
      expect([issuer, await outcomeWith(issuer)]).toEqual([issuer, 'verified']);
  });

  test('is not one of the keys of the tenant otherwise', async () => {
    for (const issuer of [
      `${v2}/${personalAccounts}/v2.0`,
      'https://issuer.example/{tenantid}/v2.0',
      '',
      1,
      null,
    ])
      expect([issuer, await outcomeWith(issuer)]).toEqual([
        issuer,
        "the token's key is not one of the directory's",
      ]);
  });
});

test('uses old keys while the directory is down, for a day', async () => {
  expect(await verify()).toBe('verified');
  sandbox.directory.faults.add({ effect: 'server-error' });
  now += 11 * minute;
  expect(await verify()).toBe('verified');
  now += 12 * 60 * minute;
  expect(await verify()).toBe('verified');
  now += 13 * 60 * minute;
  expect(await verify()).toMatch(/directory/);
  sandbox.directory.faults.clear();
  now += 2_000;
  expect(await verify()).toBe('verified');
});

test('refreshes keys in the background, and forgets a withdrawn key', async () => {
  expect(await verify()).toBe('verified');
  const old = await sandbox.directory.issueToken({ oid: 'o', audience: resource });
  const before = calls();
  await sandbox.directory.rotate({ keepOlder: false });
  now += 11 * minute;
  const config = { environment: 'public' as const, tenant_id: sandbox.tenantId, resource };
  await verifyDirectoryToken(old, keys.find, config, new Date());
  while (calls() - before < 2) await nextPoll();
  const isAccepted = () =>
    verifyDirectoryToken(old, keys.find, config, new Date()).then(
      () => true,
      () => false,
    );
  while (await isAccepted()) await nextPoll();
  await expect(verifyDirectoryToken(old, keys.find, config, new Date())).rejects.toThrow(/key/);
  expect(calls() - before).toBe(2);
  expect(await verify()).toBe('verified');
});

test('waits a second before it asks a failed directory again', async () => {
  sandbox.directory.faults.add({ effect: 'server-error' });
  for (let login = 0; login < 5; login += 1) expect(await verify()).toMatch(/directory/);
  expect(calls()).toBe(1);
  now += 1_000;
  expect(await verify()).toMatch(/directory/);
  expect(calls()).toBe(2);
});

test('gives up on a directory that does not respond', async () => {
  sandbox.directory.faults.add({ effect: 'silence' });
  expect(await verify()).toMatch(/does not respond/);
});

describe('after the cool-down of unknown keys', () => {
  const coolDownMs = 30_000;
  let passed = 0;

  beforeEach(() => {
    passed = 0;
    const start = Date.now();
    jest.spyOn(Date, 'now').mockImplementation(() => start + passed); // jose has no other clock
  });
  afterEach(() => void jest.restoreAllMocks());

  const verifyKey = (kid: string) => verifyWith({ kid });
  const coolDown = () => {
    passed += coolDownMs;
  };
  const unknownKeys = (count: number) =>
    Promise.all(Array.from({ length: count }, (_, index) => verifyKey(`unknown-${index}`)));

  test('a thousand unknown keys cause one fetch', async () => {
    expect(await verify()).toBe('verified');
    for (let round = 0; round < 2; round += 1) {
      coolDown();
      const before = calls();
      const outcomes = [...(await unknownKeys(500)), ...(await unknownKeys(500))];
      expect(new Set(outcomes)).toEqual(new Set(["the token's key is not one of the directory's"]));
      expect(calls() - before).toBe(1);
    }
  });

  test('a rotated key is picked up by the first token that it signed', async () => {
    expect(await verify()).toBe('verified');
    await sandbox.directory.rotate();
    coolDown();
    const before = calls();
    expect(await verify()).toBe('verified');
    expect(calls() - before).toBe(1);
  });

  test('known keys verify while the directory is down, and others are refused with that reason', async () => {
    expect(await verify()).toBe('verified');
    coolDown();
    sandbox.directory.faults.add({ effect: 'server-error' });
    const before = calls();
    const down = 'the directory returned status 503';
    const cooling = 'the directory did not respond a moment ago';
    expect(await unknownKeys(1)).toEqual([down]);
    expect(new Set(await unknownKeys(1_000))).toEqual(new Set([cooling]));
    expect(await verify()).toBe('verified');
    expect(calls() - before).toBe(1);
  });
});
