import { expect, test } from '@jest/globals';
import type { Json } from '@secrets/domain';
import { putRequest } from '@secrets/sync-worker/testing';
import { useDriver } from './use-driver.ts';

let nowMs = Date.now();
const driver = useDriver({}, { clock: () => nowMs });

const inspect = async (name: string, remote: Json | null) => {
  const store = await driver.connect();
  driver.harness.calls();
  return store.inspect(
    { ...putRequest(name, ''), remote, isSameValue: () => false },
    AbortSignal.timeout(60_000),
  );
};

/** Disables the newest of 27 versions. */
async function disabledAfterMany() {
  const { name, remote } = await driver.putNew();
  for (let version = 1; version <= 26; version += 1) {
    nowMs += 1_000;
    await driver.harness.stranger.setSecret(name, 'theirs', { tags: { version: `${version}` } });
  }
  const { properties } = await driver.harness.stranger.getSecret(name);
  await driver.harness.stranger.updateSecretProperties(name, '', { enabled: false });
  return { name, remote, newest: properties.version };
}

test('a look finds the newest version of a disabled secret in the list of its versions', async () => {
  const { name, remote, newest } = await disabledAfterMany();
  expect(await inspect(name, remote)).toMatchObject({ belongs: 'own', mark: newest, value: 'unread' });
  const calls = driver.harness.calls().filter((operation) => operation !== 'token');
  expect(new Set(calls)).toEqual(new Set(['GetSecret', 'GetSecretVersions']));
  expect(calls.filter((operation) => operation === 'GetSecretVersions')).toHaveLength(2);
});

test('a look at a disabled secret names the permission that it lacks', async () => {
  const { name, remote } = await driver.putNew();
  await driver.harness.stranger.updateSecretProperties(name, '', { enabled: false });
  driver.failWith('GetSecretVersions', 403, 'ForbiddenByRbac');
  await expect(inspect(name, remote)).rejects.toMatchObject({
    kind: 'forbidden',
    message: expect.stringMatching(/^List: /),
  });
});
