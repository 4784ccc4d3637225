import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { rotateNow, runDueRotations } from '../../../src/auth-methods/cloudb/rotation/run-rotation.ts';
import { quickly, type RotationForTest, startRotationForTest } from './rotation-for-test.ts';

const added = expect.stringMatching(/^secrets-service rotation /);
let cloud: RotationForTest;

beforeAll(async () => {
  cloud = await startRotationForTest();
});
beforeEach(async () => {
  await cloud.beginAgain();
  await cloud.configure({ max_retries: 0 });
  cloud.sandbox.directory.configure({ passwordDelayMs: 600_000 });
  await rotateNow(cloud.contextOf(), cloud.mount, () => undefined, quickly);
});
afterAll(() => cloud.stop());

const letTwoHoursPass = () =>
  cloud.service.db.query("update login.cloudb_rotations set pending_since = now() - interval '2 hours'");
const runDue = async () => {
  await cloud.letTimePass();
  await runDueRotations(cloud.contextOf(), () => false, quickly);
};
const passwords = () => cloud.sandbox.directory.passwords.list();
const pendingWorks = () => {
  for (const password of passwords()) password.worksFromMs = 0;
};
const expireCurrent = () => {
  for (const password of passwords()) if (password.displayName === 'sandbox') password.endMs = 0;
};
const storedIs = async () => cloud.sandbox.directory.passwords.check(await cloud.storedSecret());

test('an outage of the directory gives up no password, however long ago it was added', async () => {
  await letTwoHoursPass();
  cloud.sandbox.directory.faults.add({ effect: 'server-error', operation: 'token' });
  await runDue();
  expect(/the new password could not be tried: [^"]*/.exec(cloud.service.logged())?.[0]).toBe(
    'the new password could not be tried: the directory returned status 503; the rotation continues in the background',
  );
  cloud.sandbox.directory.faults.clear();
  pendingWorks();
  expireCurrent();
  await runDue();
  expect(await storedIs()).toBe('accepted');
  expect(cloud.ownPasswords()).toEqual([added]);
});

test('a new password is not given up while the current secret is refused', async () => {
  await letTwoHoursPass();
  expireCurrent();
  await runDue();
  pendingWorks();
  await runDue();
  expect(await storedIs()).toBe('accepted');
});

test('a new password is not given up if the directory refuses the application, not the password', async () => {
  await letTwoHoursPass();
  cloud.sandbox.directory.faults.add({ effect: 'error', code: 'unauthorized_client', operation: 'token' });
  await runDue();
  cloud.sandbox.directory.faults.clear();
  pendingWorks();
  await runDue();
  expect(cloud.ownPasswords()).toEqual([added]);
  expect(await storedIs()).toBe('accepted');
});

test('a new password that works is used before anything is cleaned up, which the expired secret cannot do', async () => {
  await cloud.service.db.query('insert into login.cloudb_rotation_attempts (id, mount_id) values ($1, $2)', [
    randomUUID(),
    cloud.mountId,
  ]);
  pendingWorks();
  expireCurrent();
  await runDue();
  expect(await storedIs()).toBe('accepted');
  expect(cloud.ownPasswords()).toEqual([added]);
});
