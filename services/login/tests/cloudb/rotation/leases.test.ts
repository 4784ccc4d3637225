import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { renewLease, takeLease } from '../../../src/auth-methods/cloudb/queries/rotations.ts';
import { type RotationForTest, startRotationForTest } from './rotation-for-test.ts';

let cloud: RotationForTest;

beforeAll(async () => {
  cloud = await startRotationForTest();
});
beforeEach(() => cloud.beginAgain());
afterAll(() => cloud.stop());

test.each([
  ['the secret', () => cloud.configure({ client_secret: '' })],
  ['the configuration', () => cloud.service.call('DELETE', '/auth/cloudB/config')],
])('a process that has a lease loses it for good if %s is removed', async (_title, remove) => {
  const { service, mountId } = cloud;
  const lost = await takeLease(service.db, mountId);
  await remove();
  await cloud.configure();
  const other = await takeLease(service.db, mountId);
  expect(await renewLease(service.db, lost!)).toBeUndefined();
  expect(await renewLease(service.db, other!)).toBeDefined();
});
