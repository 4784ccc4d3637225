import { expect, test } from '@jest/globals';
import { newValue, putRequest } from '@secrets/sync-worker/testing';
import { useDriver } from './use-driver.ts';

const driver = useDriver();
const ours = '{"a":1,"b":2}';
const reordered = '{"b": 2, "a": 1}';
type Planted = Omit<Parameters<typeof driver.harness.plant>[0], 'key'>;

const plant = async (planted: Planted) => {
  const key = driver.harness.freshName();
  await driver.harness.plant({ key, ...planted });
  driver.harness.calls();
  return putRequest(key, ours, { overwrite: true });
};
const takeOver = async (planted: Planted) => {
  const request = await plant(planted);
  const { remote } = await driver.put(request);
  return { name: request.externalName, request, remote, calls: driver.harness.calls() };
};
const encrypted = (value: string) => [`encrypted preview,production: ${value}`];

test.each([
  ['the same text', ours],
  ['JSON in another order', reordered],
])('a variable that is taken over is only marked if its value is equal: %s', async (_, theirs) => {
  const { name, request, remote, calls } = await takeOver({ value: theirs, comment: 'theirs' });
  expect(calls).toEqual(['filterProjectEnvs', 'getProjectEnv', 'editProjectEnv', 'getProjectEnv']);
  const comment = expect.stringMatching(/^theirs \| .*secrets-destination: 5b0a6c3e/);
  expect(driver.harness.held(name)).toMatchObject([{ value: theirs, tags: { comment } }]);
  const later = { ...request, remote, overwrite: false, valueChanged: false };
  await driver.put({ ...later, verify: true });
  expect(driver.harness.calls()).toEqual(['filterProjectEnvs']);
  const retried = { ...request, remote: null, overwrite: false }; // as after a crash before the outcome was recorded
  const { remote: found } = await driver.put(retried);
  expect(driver.records(name)).toEqual(encrypted(theirs));
  await driver.put({ ...request, ...newValue(request, 'new'), remote: found });
  expect(driver.records(name)).toEqual(encrypted('new'));
});

test('a variable with an equal value gets the environments that it lacks', async () => {
  const { name, calls } = await takeOver({ value: reordered, target: ['production'] });
  expect(calls).toEqual(['filterProjectEnvs', 'getProjectEnv', 'editProjectEnv', 'getProjectEnv']);
  expect(driver.records(name)).toEqual(encrypted(reordered));
});

test.each<[string, Planted]>([
  ['has another one', { value: '{"a":2}' }],
  ['is plain, and becomes encrypted', { value: reordered, type: 'plain' }],
])('a variable that is taken over gets the value if it %s', async (_, planted) => {
  const { name, calls } = await takeOver(planted);
  expect(calls.filter((call) => call === 'editProjectEnv')).toHaveLength(1);
  expect(driver.records(name)).toEqual(encrypted(ours));
});

test('a variable that is taken over gets the value if the token may not read it', async () => {
  driver.failWith('getProjectEnv', 'forbidden', 403);
  const { name } = await takeOver({ value: reordered });
  expect(driver.records(name)).toEqual(encrypted(ours));
});

test('a value that somebody else writes while the variable is marked is not taken for the equal one', async () => {
  const request = await plant({ value: reordered });
  const id = driver.harness.held(request.externalName)[0]!.tags.id!;
  driver.harness.sandbox.webhost.faults.add({
    effect: 'slow',
    operation: 'editProjectEnv',
    ms: 200,
    times: 1,
  });
  const put = driver.put(request);
  while (!driver.harness.calls().includes('getProjectEnv')) await new Promise((go) => setTimeout(go, 5));
  await driver.harness.stranger('PATCH', `/${id}`, { value: 'theirs' });
  await put;
  expect(driver.records(request.externalName)).toEqual(encrypted(ours));
});
