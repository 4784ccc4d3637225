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

const verified = async () => {
  const token = await sandbox.directory.issueToken({ oid: 'o', audience: resource });
  const config = { environment: 'public' as const, tenant_id: sandbox.tenantId, resource };
  return verifyDirectoryToken(token, keys.find, config).then(
    () => 'verified',
    (error: Error) => error.message,
  );
};
const asked = () => sandbox.directory.calls().length;
const turn = () => new Promise((resolve) => setTimeout(resolve, 5));

test('old keys serve while the directory is down, but not for ever', async () => {
  expect(await verified()).toBe('verified');
  sandbox.directory.faults.add({ effect: 'server-error' });
  now += 11 * minute;
  expect(await verified()).toBe('verified');
  now += 12 * 60 * minute;
  expect(await verified()).toBe('verified');
  now += 13 * 60 * minute;
  expect(await verified()).toMatch(/directory/);
  sandbox.directory.faults.clear();
  now += 2_000;
  expect(await verified()).toBe('verified');
});

test('keys are refreshed behind the back of logins, and a withdrawn key is forgotten', async () => {
  expect(await verified()).toBe('verified');
  const old = await sandbox.directory.issueToken({ oid: 'o', audience: resource });
  const before = asked();
  await sandbox.directory.rotate({ keepOlder: false });
  now += 11 * minute;
  const config = { environment: 'public' as const, tenant_id: sandbox.tenantId, resource };
  await verifyDirectoryToken(old, keys.find, config);
  while (asked() - before < 2) await turn();
  const stillTaken = () =>
    verifyDirectoryToken(old, keys.find, config).then(
      () => true,
      () => false,
    );
  while (await stillTaken()) await turn();
  await expect(verifyDirectoryToken(old, keys.find, config)).rejects.toThrow(/key/);
  expect(asked() - before).toBe(2);
  expect(await verified()).toBe('verified');
});

test('a directory that is down is not asked again for a second', async () => {
  sandbox.directory.faults.add({ effect: 'server-error' });
  for (let login = 0; login < 5; login += 1) expect(await verified()).toMatch(/directory/);
  expect(asked()).toBe(1);
  now += 1_000;
  expect(await verified()).toMatch(/directory/);
  expect(asked()).toBe(2);
});

test('a directory that is silent is given up', async () => {
  sandbox.directory.faults.add({ effect: 'silence' });
  expect(await verified()).toMatch(/does not answer/);
});
