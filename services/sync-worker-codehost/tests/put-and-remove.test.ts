import { describe, expect, test } from '@jest/globals';
import { putRequest } from '@secrets/sync-worker/testing';
import { startHarness, web, writePast } from './sandbox-harness.ts';
import { useDriver } from './use-driver.ts';

const driver = useDriver();
const { connect, put, putNew, remove } = driver;
const signal = () => AbortSignal.timeout(60_000);
const environment = { ...web, environment_name: 'production' };

describe('codehost 1: the public key', () => {
  test('is fetched once for many puts, and a put of a known secret is a look and one write', async () => {
    const connected = await connect();
    const { name, next } = await putNew(connected);
    for (const value of ['two', 'three']) await put(next(value), connected);
    await put(putRequest(driver.harness.freshName(), 'x'), connected);
    expect(driver.harness.calls()).toEqual([
      'getRepoSecret',
      'createOrUpdateRepoSecret',
      'getRepoSecret',
      'createOrUpdateRepoSecret',
      'getRepoSecret',
      'createOrUpdateRepoSecret',
    ]);
    expect(driver.harness.held(name)?.value).toBe('three');
  });

  test('is fetched again once if the provider refuses a value that was sealed for it', async () => {
    const { name, next } = await putNew();
    driver.harness.sandbox.codehost.rotateKeys();
    await put(next('two'));
    expect(driver.harness.calls()).toEqual([
      'getRepoSecret',
      'createOrUpdateRepoSecret',
      'getRepoPublicKey',
      'createOrUpdateRepoSecret',
    ]);
    expect(driver.harness.held(name)?.value).toBe('two');
  });

  test('that is still the same means that the request itself is rejected', async () => {
    const { next } = await putNew();
    driver.failWith('createOrUpdateRepoSecret', 422);
    await expect(put(next('two'))).rejects.toMatchObject({
      kind: 'rejected',
      message: expect.stringMatching(
        /^createOrUpdateRepoSecret: the name, the value or a setting .*\(ValidationFailed\)/,
      ),
    });
    expect(driver.harness.calls()).toEqual(['getRepoSecret', 'createOrUpdateRepoSecret', 'getRepoPublicKey']);
  });
});

describe('codehost 2: values cannot be read back', () => {
  test('an edit by someone else is found by its time, and overwritten', async () => {
    let ahead = 0;
    const own = await startHarness({}, { clock: () => Date.now() + ahead });
    const connected = await own.connect();
    const request = putRequest(own.freshName(), 'one');
    const { remote } = await connected.put(request, signal());
    const verification = { ...request, remote, valueChanged: false, verify: true };
    ahead = 2_000;
    await writePast(own.stranger, request.externalName, 'theirs');
    const repaired = await connected.put(verification, signal());
    expect(own.held(request.externalName)?.value).toBe('one');
    own.calls();
    await connected.put({ ...verification, remote: repaired.remote }, signal());
    expect(own.calls()).toEqual(['getRepoSecret']);
    await connected.close();
    await own.stop();
  });

  test("times are compared by the provider's clock, not by ours", async () => {
    const behind = await startHarness({}, { clock: () => Date.now() - 86_400_000 });
    const connected = await behind.connect();
    const request = putRequest(behind.freshName(), 'one');
    const { remote } = await connected.put(request, signal());
    await writePast(behind.stranger, 'UNRELATED', 'x');
    behind.calls();
    await connected.put({ ...request, remote, valueChanged: false, verify: true }, signal());
    expect(behind.calls()).toEqual(['getRepoSecret']);
    await connected.close();
    await behind.stop();
  });

  test('a secret that was deleted by someone else is written again', async () => {
    const { name, verification } = await putNew();
    await driver.harness.stranger.rest.actions.deleteRepoSecret({
      ...{ owner: 'acme', repo: 'web', secret_name: name },
    });
    await put(verification);
    expect(driver.harness.held(name)?.value).toBe('one');
  });
});

describe('codehost 4: an environment', () => {
  test('has secrets of its own, also if its name needs encoding', async () => {
    const environment_name = 'live / eu #1?';
    await driver.harness.stranger.rest.repos.createOrUpdateEnvironment({
      ...{ owner: 'acme', repo: 'web', environment_name },
    });
    const connected = await connect({ ...web, environment_name });
    const { name, remote, next, verification } = await putNew(connected);
    const place = `acme/web, environment ${environment_name}`;
    await put(next('two'), connected);
    expect(driver.harness.held(name, place)?.value).toBe('two');
    expect(driver.harness.held(name)).toBeUndefined();
    await put(verification, connected);
    await remove(name, remote, connected);
    expect(driver.harness.held(name, place)).toBeUndefined();
  });

  test('that does not exist is rejected and not created', async () => {
    const connected = await connect({ ...web, environment_name: 'none' });
    const request = putRequest(driver.harness.freshName(), 'x');
    await expect(put(request, connected)).rejects.toMatchObject({
      kind: 'rejected',
      message: expect.stringMatching(/^the environment "none" of acme\/web does not exist, or .* permission/),
    });
    await expect(put(request, connected)).rejects.toMatchObject({ kind: 'rejected' });
  });
});

describe('codehost 7: the number of secrets is checked before one is created', () => {
  test('in a full repository, foreign secrets included, and known secrets are still written', async () => {
    const own = await startHarness();
    const [connected, request] = [await own.connect(), putRequest(own.freshName(), 'one')];
    const { remote } = await connected.put(request, signal());
    for (let number = 1; number <= 99; number += 1) await own.plantForeign(`FOREIGN_${number}`, 'x');
    const other = await own.connect();
    own.calls();
    let starts = 0;
    const recordStart = async () => {
      starts += 1;
    };
    const surplus = putRequest(own.freshName(), 'x', { recordStart });
    await expect(other.put(surplus, signal())).rejects.toMatchObject({
      kind: 'full',
      message: 'the repository acme/web already has 100 secrets, and can have 100',
    });
    expect(own.calls()).toEqual(['getRepoPublicKey', 'getRepoSecret', 'listRepoSecrets']);
    expect(starts).toBe(0);
    await other.put({ ...request, remote }, signal());
    await own.stranger.rest.actions.deleteRepoSecret({
      ...{ owner: 'acme', repo: 'web', secret_name: 'FOREIGN_1' },
    });
    await other.put(surplus, signal());
    await Promise.all([connected.close(), other.close()]);
    await own.stop();
  });

  test('and the number that was counted follows the own writes', async () => {
    const own = await startHarness({
      repositories: [{ owner: 'acme', name: 'web' }],
    });
    for (let number = 1; number <= 98; number += 1) await own.plantForeign(`FOREIGN_${number}`, 'x');
    const connected = await own.connect();
    const requests = Array.from({ length: 3 }, () => putRequest(own.freshName(), 'x'));
    const [first, second, third] = requests as [
      (typeof requests)[0],
      (typeof requests)[0],
      (typeof requests)[0],
    ];
    const { remote } = await connected.put(first, signal());
    await connected.put(second, signal());
    await expect(connected.put(third, signal())).rejects.toMatchObject({ kind: 'full' });
    await connected.remove({ ...first, remote }, signal());
    own.calls();
    await connected.put(third, signal());
    expect(own.calls()).toEqual(['getRepoSecret', 'createOrUpdateRepoSecret']);
    await connected.close();
    await own.stop();
  });
});

describe('codehost 9: removal', () => {
  test('of a secret that is gone succeeds, also if its repository is gone', async () => {
    const { name, remote } = await putNew();
    await driver.harness.stranger.rest.actions.deleteRepoSecret({
      ...{ owner: 'acme', repo: 'web', secret_name: name },
    });
    await remove(name, remote);
    const elsewhere = await connect({ repository_owner: 'acme', repository_name: 'gone' });
    await remove(name, remote, elsewhere);
  });

  test('of a secret that the entry never wrote makes no call', async () => {
    const before = driver.harness.callCount();
    await remove(driver.harness.freshName());
    expect(driver.harness.callCount()).toBe(before);
  });
});

describe('common: unknown is not absent', () => {
  test.each([403, 500])('a read that fails with %i leads to no write', async (status) => {
    const { verification } = await putNew(await connect(environment));
    const connected = await connect(environment);
    driver.failWith('getEnvironmentSecret', status);
    driver.harness.calls();
    const created = putRequest(driver.harness.freshName(), 'x');
    for (const request of [verification, created])
      await expect(put(request, connected)).rejects.toMatchObject({
        kind: status === 403 ? 'forbidden' : 'unavailable',
      });
    expect(driver.harness.calls()).toEqual([
      'getEnvironmentSecret',
      'getEnvironmentPublicKey',
      'getEnvironmentSecret',
    ]);
  });

  test('"not found" for a secret of a repository that cannot be seen is not a free name', async () => {
    const hidden = await connect({ repository_owner: 'acme', repository_name: 'hidden' });
    await expect(put(putRequest(driver.harness.freshName(), 'x'), hidden)).rejects.toMatchObject({
      kind: 'rejected',
    });
  });
});

test('common: whether a name is free is decided by that name alone, never by a list', async () => {
  const name = driver.harness.freshName();
  await driver.harness.plantForeign(name, 'theirs');
  driver.harness.calls();
  await expect(put(putRequest(name.toLowerCase(), 'ours'))).rejects.toMatchObject({ kind: 'conflict' });
  expect(driver.harness.calls()).toEqual(['getRepoSecret']);
});

test('an environment has its own limit and key: both are of the scope', async () => {
  const connected = await connect(environment);
  await put(putRequest(driver.harness.freshName(), 'x'), connected);
  expect(driver.harness.calls()).toEqual([
    'getEnvironmentPublicKey',
    'getEnvironmentSecret',
    'listEnvironmentSecrets',
    'createOrUpdateEnvironmentSecret',
  ]);
});

test('an archived repository is named, until it is unarchived', async () => {
  const own = await startHarness();
  const connected = await own.connect();
  const request = putRequest(own.freshName(), 'x');
  const { remote } = await connected.put(request, signal());
  const archive = (archived: boolean) =>
    own.stranger.rest.repos.update({ owner: 'acme', repo: 'web', archived });
  await archive(true);
  const refused = {
    kind: 'rejected',
    mayPass: true,
    message: expect.stringMatching(/archived .*unarchive it$/),
  };
  const surplus = putRequest(own.freshName(), 'x');
  await expect(connected.put(surplus, signal())).rejects.toMatchObject(refused);
  await expect(connected.remove({ ...request, remote }, signal())).rejects.toMatchObject(refused);
  await archive(false);
  await connected.put(surplus, signal());
  await connected.close();
  await own.stop();
});
