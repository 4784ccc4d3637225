import { expect, test } from '@jest/globals';
import type { Json } from '@secrets/domain';
import { putRequest } from '@secrets/sync-worker/testing';
import { useDriver } from './use-driver.ts';

const driver = useDriver();

const inspect = async (name: string, remote: Json | null) =>
  (await driver.connect()).inspect(
    { ...putRequest(name, ''), remote, isSameValue: (value) => value.reveal() === 'one' },
    AbortSignal.timeout(60_000),
  );
const idOf = (name: string) => driver.harness.held(name)[0]!.tags.id!;

test('a deleted variable is missing although another record of its name is for an environment of somebody else', async () => {
  const { name, remote } = await driver.putNew();
  await driver.harness.stranger('DELETE', `/${idOf(name)}`);
  await driver.harness.plant({ key: name, target: ['development'] });
  expect(await inspect(name, remote)).toEqual({ exists: false });
});

test('a record of the name for the same environment is foreign after the variable was deleted', async () => {
  const { name, remote } = await driver.putNew();
  await driver.harness.stranger('DELETE', `/${idOf(name)}`);
  await driver.harness.plant({ key: name, target: ['production', 'development'] });
  expect(await inspect(name, remote)).toMatchObject({ belongs: 'none', value: 'different' });
});

test('a put beside a record for another environment succeeds', async () => {
  const { name, verification } = await driver.putNew();
  await driver.harness.stranger('DELETE', `/${idOf(name)}`);
  await driver.harness.plant({ key: name, target: ['development'] });
  await driver.put(verification);
  expect(driver.records(name)).toHaveLength(2);
});
