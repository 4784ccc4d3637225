import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type Sandbox, startSandbox } from '@secrets/sandbox';
import { TenantKeys } from './tenant-keys.ts';
import { verifyDirectoryToken } from './verify-directory-token.ts';

const resource = 'https://resource.example';
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

const verify = async () => {
  const token = await sandbox.directory.issueToken({ oid: 'o', audience: resource });
  const config = { environment: 'public' as const, tenant_id: sandbox.tenantId, resource };
  return verifyDirectoryToken(token, keys.find, config).then(
    () => 'verified',
    (error: Error) => error.message,
  );
};
const calls = () => sandbox.directory.calls().length;
const nextPoll = () => sleep(5);

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
  await verifyDirectoryToken(old, keys.find, config);
  while (calls() - before < 2) await nextPoll();
  const isAccepted = () =>
    verifyDirectoryToken(old, keys.find, config).then(
      () => true,
      () => false,
    );
  while (await isAccepted()) await nextPoll();
  await expect(verifyDirectoryToken(old, keys.find, config)).rejects.toThrow(/key/);
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
