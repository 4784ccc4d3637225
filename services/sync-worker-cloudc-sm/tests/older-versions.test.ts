import { describe, expect, test } from '@jest/globals';
import { Fault, type Json } from '@secrets/domain';
import type { PutRequest } from '@secrets/sync-worker';
import { newValue, putRequest } from '@secrets/sync-worker/testing';
import { useDriver } from './use-driver.ts';

const driver = useDriver();
const { put, putNew } = driver;
const fullName = (id: string) => driver.harness.nameOf(id);
const states = (id: string) => driver.harness.states(id);
const version = (id: string, number: number) => ({ name: `${fullName(id)}/versions/${number}` });
/** Adds a version as somebody else. */
const addForeign = (id: string, value: string) =>
  driver.harness.stranger.addSecretVersion({ parent: fullName(id), payload: { data: Buffer.from(value) } });

/** A put whose outcome is lost. Returns the request of the next attempt, with what this one has recorded. */
async function lose(request: PutRequest, hasWritten = true): Promise<PutRequest> {
  let { remote } = request;
  const recordRemote = async (recorded: Json) => {
    remote = recorded;
    const effect = hasWritten ? 'act-then-die' : 'reset';
    driver.harness.sandbox.cloudC.faults.add({ effect, operation: 'AddSecretVersion', times: 1 });
  };
  await expect(put({ ...request, recordRemote })).rejects.toMatchObject({ kind: 'unavailable' });
  driver.harness.clear();
  driver.harness.calls();
  return { ...request, remote };
}

const withValue = (request: PutRequest, value: string) => ({ ...request, ...newValue(request, value) });

describe('cloudC-sm 4: a version that an attempt has added whose outcome was lost', () => {
  test('is the current one if the attempt is repeated, and the older one is destroyed', async () => {
    const { name, next } = await putNew();
    const again = await lose(next('two'));
    const { remote } = await put(again);
    expect(await states(name)).toEqual(['DESTROYED', 'ENABLED']);
    await put({ ...withValue(again, 'three'), remote });
    expect(await states(name)).toEqual(['DESTROYED', 'DESTROYED', 'ENABLED']);
  });

  test('is destroyed if another value follows', async () => {
    const { name, next } = await putNew();
    const again = await lose(next('two'));
    await put(withValue(again, 'three'));
    expect(await states(name)).toEqual(['DESTROYED', 'DESTROYED', 'ENABLED']);
  });

  test('is destroyed if other values follow, whose outcomes are lost too', async () => {
    const { name, next } = await putNew();
    const second = await lose(next('two'));
    const third = await lose(withValue(second, 'three'));
    const { remote } = await put(withValue(third, 'two'));
    expect(await states(name)).toEqual(['DESTROYED', 'DESTROYED', 'DESTROYED', 'ENABLED']);
    expect(remote).toMatchObject({ ours: [{ number: 4 }], started: null });
  });

  test('is destroyed if it was the first one', async () => {
    const again = await lose(putRequest(driver.harness.freshName(), 'one'));
    await put(withValue(again, 'two'));
    expect(await states(again.externalName)).toEqual(['DESTROYED', 'ENABLED']);
  });

  test('is destroyed if somebody else has added one after it, which stays', async () => {
    const { name, next } = await putNew();
    const again = await lose(next('two'));
    await addForeign(name, 'theirs');
    await put(withValue(again, 'three'));
    expect(await states(name)).toEqual(['DESTROYED', 'DESTROYED', 'ENABLED', 'ENABLED']);
  });

  test('is destroyed if somebody else has added and disabled one after it', async () => {
    const { name, next } = await putNew();
    const again = await lose(next('two'));
    await addForeign(name, 'theirs');
    await driver.harness.stranger.disableSecretVersion(version(name, 3));
    await put(withValue(again, 'three'));
    expect(await states(name)).toEqual(['DESTROYED', 'DESTROYED', 'DISABLED', 'ENABLED']);
  });

  test('is kept if somebody else has added one with the same value: which one it is cannot be decided', async () => {
    const { name, next } = await putNew();
    const again = await lose(next('two'));
    await addForeign(name, 'two');
    await put(withValue(again, 'three'));
    expect(await states(name)).toEqual(['DESTROYED', 'ENABLED', 'ENABLED', 'ENABLED']);
  });

  test.each(['ListSecretVersions', 'AccessSecretVersion'])(
    'is kept without permission for %s, and the value is written',
    async (operation) => {
      const { name, next } = await putNew();
      const again = await lose(next('two'));
      driver.failWith(operation, 'PERMISSION_DENIED', 403);
      await put(withValue(again, 'three'));
      driver.harness.clear();
      expect(await states(name)).toEqual(['DESTROYED', 'ENABLED', 'ENABLED']);
    },
  );

  test('is not mistaken for an older one with the same value, which somebody else has added', async () => {
    const name = driver.harness.freshName();
    await driver.harness.plantForeign(name, 'two');
    const request = putRequest(name, 'one', { overwrite: true });
    const { remote } = await put(request);
    const again = await lose({ ...withValue(request, 'two'), remote });
    await put(withValue(again, 'three'));
    expect(await states(name)).toEqual(['ENABLED', 'DESTROYED', 'DESTROYED', 'ENABLED']);
  });

  test('is not recognised if the newest one was disabled and versions cannot be listed, and the value is written', async () => {
    const { name, next } = await putNew();
    const again = await lose(next('two'));
    await driver.harness.stranger.disableSecretVersion(version(name, 2));
    driver.failWith('ListSecretVersions', 'PERMISSION_DENIED', 403);
    await put(withValue(again, 'three'));
    driver.harness.clear();
    expect(await states(name)).toEqual(['DESTROYED', 'DISABLED', 'ENABLED']);
  });

  test('costs no further call if the attempt has added none', async () => {
    const { name, next } = await putNew();
    const again = await lose(next('two'), false);
    await put(withValue(again, 'three'));
    expect(driver.harness.calls()).toEqual([
      'GetSecret',
      'AccessSecretVersion',
      'AddSecretVersion',
      'DestroySecretVersion',
    ]);
    expect(await states(name)).toEqual(['DESTROYED', 'ENABLED']);
  });

  test('is found although the value is the one before it again', async () => {
    const { name, next, unchanged } = await putNew();
    const { remote } = await lose(next('two'));
    await put({ ...unchanged, remote });
    expect(driver.harness.held(name)?.value).toBe('one');
    expect(await states(name)).toEqual(['DESTROYED', 'DESTROYED', 'ENABLED']);
  });
});

test('no version is added if what is about to be added cannot be recorded', async () => {
  const { name, next } = await putNew();
  const recordRemote = async () => {
    throw new Fault('unavailable', 'the lease was lost');
  };
  await expect(put({ ...next('two'), recordRemote })).rejects.toMatchObject({
    message: 'the lease was lost',
  });
  expect(await states(name)).toEqual(['ENABLED']);
});

describe('cloudC-sm 4: a version that somebody else has added', () => {
  test('is kept when the next value is written', async () => {
    const { name, next } = await putNew();
    await addForeign(name, 'theirs');
    const { remote } = await put(next('two'));
    expect(await states(name)).toEqual(['DESTROYED', 'ENABLED', 'ENABLED']);
    await put({ ...next('three'), remote });
    expect(await states(name)).toEqual(['DESTROYED', 'ENABLED', 'DESTROYED', 'ENABLED']);
  });

  test('is kept if older versions could not be destroyed at first', async () => {
    const { name, next } = await putNew();
    driver.failWith('DestroySecretVersion', 'RESOURCE_EXHAUSTED', 429);
    const { remote } = await put(next('two'));
    driver.harness.clear();
    await addForeign(name, 'theirs');
    await put({ ...next('three'), remote });
    expect(await states(name)).toEqual(['DESTROYED', 'DESTROYED', 'ENABLED', 'ENABLED']);
  });

  test('is kept although it has the value that is to be written', async () => {
    const { name, next } = await putNew();
    await addForeign(name, 'two');
    const { remote } = await put(next('two'));
    expect(await states(name)).toEqual(['DESTROYED', 'ENABLED']);
    await put({ ...next('three'), remote });
    expect(await states(name)).toEqual(['DESTROYED', 'ENABLED', 'ENABLED']);
  });
});

test('what is recorded of a value does not contain it', async () => {
  const { remote } = await lose(putRequest(driver.harness.freshName(), 'canary'));
  expect(JSON.stringify(remote)).toContain('"started":{"after":0,');
  expect(JSON.stringify(remote)).not.toMatch(/canary|Y2FuYXJ5/);
});

describe('the value of a secret that is taken over', () => {
  const ours = '{"a":1,"b":2}';

  const takeOver = async (theirs: string) => {
    const name = driver.harness.freshName();
    await driver.harness.plantForeign(name, theirs);
    driver.harness.calls();
    const request = putRequest(name, ours, { overwrite: true });
    const { remote } = await driver.put(request);
    return { name, request, remote, calls: driver.harness.calls() };
  };

  test.each([
    ['the same text', ours],
    ['JSON in another order', '{"b": 2, "a": 1}'],
  ])('a secret that is taken over is only marked if its value is equal: %s', async (_, theirs) => {
    const { name, request, remote, calls } = await takeOver(theirs);
    expect(calls).toEqual([
      'CreateSecret',
      'GetSecret',
      'UpdateSecret',
      'AccessSecretVersion', // the newest
      'AccessSecretVersion', // by its number
      'AccessSecretVersion', // the next number, which does not exist
    ]);
    const marked = { 'managed-by': 'secrets-sync' };
    expect(driver.harness.held(name)).toMatchObject({ value: theirs, version_count: 1, tags: marked });
    const later = { ...request, remote, overwrite: false, valueChanged: false };
    await driver.put({ ...later, verify: true });
    await driver.put({ ...request, remote: null, overwrite: false }); // as after a crash before the outcome was recorded
    await driver.put(later, await driver.connect({ custom_tags: { team: 'a' } }));
    expect(driver.harness.calls()).not.toContain('AddSecretVersion');
    expect(driver.harness.held(name)).toMatchObject({ value: theirs, version_count: 1, tags: { team: 'a' } });
    await driver.put({ ...request, ...newValue(request, 'new'), remote });
    expect(driver.harness.held(name)).toMatchObject({ value: 'new', version_count: 2 });
  });

  test('equal JSON of a version that somebody else has added since is written again', async () => {
    const { name, request, remote } = await takeOver('{"b":2,"a":1}');
    const payload = { data: Buffer.from('{"b":2, "a":1}') };
    await driver.harness.stranger.addSecretVersion({ parent: driver.harness.nameOf(name), payload });
    await driver.put({ ...request, remote, valueChanged: false, verify: true });
    expect(driver.harness.held(name)).toMatchObject({ value: ours, version_count: 3 });
  });

  test('a secret that is taken over gets the value if it has another one, or if the credentials may not read it', async () => {
    const other = await takeOver('{"a":2}');
    expect(driver.harness.held(other.name)).toMatchObject({ value: ours, version_count: 2 });
    driver.failWith('AccessSecretVersion', 'PERMISSION_DENIED', 403);
    const hidden = await takeOver('{"b":2,"a":1}');
    expect(driver.harness.held(hidden.name)).toMatchObject({ value: ours, version_count: 2 });
  });
});
