import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { rotateNow } from '../../../src/auth-methods/cloudb/rotation/run-rotation.ts';
import { audience } from '../../login-for-test.ts';
import { quickly, type RotationForTest, startRotationForTest } from './rotation-for-test.ts';

let cloud: RotationForTest;

beforeAll(async () => {
  cloud = await startRotationForTest();
});
beforeEach(() => cloud.beginAgain());
afterAll(() => cloud.stop());

const write = async (over: object): Promise<[number, string[] | undefined]> => {
  const { tenantId, directory } = cloud.sandbox;
  const body = {
    tenant_id: tenantId,
    resource: audience,
    client_id: directory.application.clientId,
    ...over,
  };
  const { status, body: response } = await cloud.service.call('POST', '/auth/cloudB/config', body);
  return [status, response?.warnings];
};
const rotate = () => rotateNow(cloud.contextOf(), cloud.mount, () => undefined, quickly);
const keyIdOfNewest = (): string => cloud.sandbox.directory.passwords.list().at(-1)!.keyId;
const recorded = async () =>
  (
    await cloud.service.db.query(
      `select current_key_id as current, retired_key_id as retired, pending_key_id as pending, discarded_key_ids as discarded, due_at as due,
         (select count(*) from login.cloudb_rotation_attempts) as attempts from login.cloudb_rotations`,
    )
  )[0];
const nothing = { current: null, retired: null, pending: null, discarded: [], due: null, attempts: 0 };

test('with another application, the passwords at the one before are forgotten, and a warning lists them', async () => {
  await rotate();
  const current = keyIdOfNewest();
  cloud.sandbox.directory.configure({ passwordDelayMs: 600_000 });
  await rotate();
  const pending = keyIdOfNewest();
  const [status, warnings] = await write({ client_id: 'another', client_secret: 'of another' });
  expect(status).toBe(200);
  expect(warnings).toEqual([
    expect.stringMatching(/^rotations left passwords at the former application, which are no longer removed/),
  ]);
  for (const keyId of [current, pending]) expect(warnings![0]).toContain(keyId);
  expect(await recorded()).toEqual(nothing);
});

test('the warning names passwords of which the ID is not known', async () => {
  const { faults } = cloud.sandbox.graph;
  faults.add({ effect: 'act-then-die', operation: 'application.addPassword', times: 1 });
  await expect(rotate()).rejects.toThrow();
  const name = String(cloud.sandbox.directory.passwords.list().at(-1)!.displayName);
  expect(name).toMatch(/^secrets-service rotation /);
  const [, warnings] = await write({ client_id: 'another', client_secret: 'of another' });
  expect(warnings).toEqual([expect.stringContaining(name)]);
  expect(await recorded()).toEqual(nothing);
});

test('without a secret, the passwords are forgotten with the same warning', async () => {
  await rotate();
  const [, warnings] = await write({ client_secret: '' });
  expect(warnings).toEqual([expect.stringContaining(keyIdOfNewest())]);
  expect(await recorded()).toBeUndefined();
});

test('with another secret of the same application, passwords are still removed, and there is no warning', async () => {
  cloud.sandbox.directory.configure({ passwordDelayMs: 600_000 });
  await rotate();
  const pending = keyIdOfNewest();
  const { clientSecret } = cloud.sandbox.directory.application;
  expect(await write({ client_secret: clientSecret })).toEqual([204, undefined]);
  expect(await recorded()).toMatchObject({ pending: null, discarded: [pending], due: expect.any(Date) });
});

test('with another application, there is no warning if no rotation added a password', async () => {
  expect(await write({ client_id: 'another', client_secret: 'of another' })).toEqual([204, undefined]);
});
