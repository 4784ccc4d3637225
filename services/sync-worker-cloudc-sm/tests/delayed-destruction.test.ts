import { expect, test } from '@jest/globals';
import { useDriver } from './use-driver.ts';

const driver = useDriver();
const { put, putNew, remove } = driver;
const fullName = (id: string) => driver.harness.nameOf(id);
const states = (id: string) => driver.harness.states(id);

/** Sets a delayed destruction and an expiry as somebody else. */
const delay = (id: string) =>
  driver.harness.stranger.updateSecret({
    secret: {
      name: fullName(id),
      versionDestroyTtl: { seconds: 86_400 },
      expireTime: { seconds: Math.floor(Date.now() / 1000) + 864_000 },
    },
    updateMask: { paths: ['version_destroy_ttl', 'expire_time'] },
  });

test('where others delay the destruction, older versions are disabled, and the delay and the expiry stay', async () => {
  const { name, next } = await putNew();
  await delay(name);
  const { remote } = await put(next('two'));
  expect(await states(name)).toEqual(['DISABLED', 'ENABLED']);
  await put({ ...next('three'), remote });
  expect(await states(name)).toEqual(['DISABLED', 'DISABLED', 'ENABLED']);
  const [secret] = await driver.harness.stranger.getSecret({ name: fullName(name) });
  expect(secret.versionDestroyTtl?.seconds).toBeDefined();
  expect(secret.expireTime).toBeDefined();
});

test('the newest version that others have scheduled for destruction is written again', async () => {
  const { name, verification } = await putNew();
  await delay(name);
  await driver.harness.stranger.destroySecretVersion({ name: `${fullName(name)}/versions/1` });
  const { remote } = await put(verification);
  expect(driver.harness.held(name)).toMatchObject({ value: 'one', version_count: 2 });
  expect(await states(name)).toEqual(['DISABLED', 'ENABLED']);
  await remove(name, remote);
  expect(driver.harness.held(name)).toBeUndefined();
});
