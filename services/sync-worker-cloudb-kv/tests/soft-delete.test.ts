import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { putRequest } from '@secrets/sync-worker/testing';
import { startHarness } from './sandbox-harness.ts';
import { useDriver } from './use-driver.ts';

const driver = useDriver();
const { connect, put, putNew, remove } = driver;
const signal = () => AbortSignal.timeout(60_000);
const deleteAsStranger = (name: string) => driver.harness.stranger.beginDeleteSecret(name);

describe('cloudB-kv 1: a deleted secret', () => {
  test('is recovered and updated if it belongs to the destination', async () => {
    for (const isKnown of [true, false]) {
      const { name, next } = await putNew();
      await deleteAsStranger(name);
      const tagged = await connect({ custom_tags: { team: 'a' } });
      const request = { ...next('two'), ...(isKnown ? {} : { remote: null }) };
      await put(request, tagged);
      expect(driver.harness.held(name)).toMatchObject({
        value: 'two',
        deleted_at: null,
        tags: { team: 'a' },
      });
    }
  });

  test('is not recovered if it belongs to somebody else, and with overwrite if to nobody', async () => {
    const name = driver.harness.freshName();
    await driver.harness.plantForeign(name, 'theirs');
    await deleteAsStranger(name);
    await expect(put(putRequest(name, 'ours'))).rejects.toMatchObject({ kind: 'conflict' });
    expect(driver.harness.held(name)?.deleted_at).not.toBeNull();
    await put(putRequest(name, 'ours', { overwrite: true }));
    expect(driver.harness.held(name)).toMatchObject({ value: 'ours', deleted_at: null });
  });

  test('is not recovered, even with overwrite, if it belongs to another destination', async () => {
    const other = driver.keep(await driver.harness.connect({ id: randomUUID() }));
    const { name } = await putNew(other);
    await deleteAsStranger(name);
    await expect(put(putRequest(name, 'ours', { overwrite: true }))).rejects.toMatchObject({
      kind: 'conflict',
      message: expect.stringContaining('belongs to another destination'),
    });
    expect(driver.harness.held(name)?.deleted_at).not.toBeNull();
  });

  test('that may not be recovered is forbidden, and the message names the permission', async () => {
    const { name, next } = await putNew();
    await deleteAsStranger(name);
    driver.failWith('RecoverDeletedSecret', 403, 'ForbiddenByRbac');
    await expect(put(next('two'))).rejects.toMatchObject({
      kind: 'forbidden',
      message: expect.stringMatching(/a deleted secret has the name .* the permission Recover$/),
    });
  });

  test.each(['ObjectIsBeingDeleted', 'ObjectIsBeingRecovered'])(
    'in the state %s is not ready',
    async (code) => {
      driver.failWith('SetSecret', 409, code);
      const request = putRequest(driver.harness.freshName(), 'one');
      driver.harness.calls();
      await expect(put(request)).rejects.toMatchObject({ kind: 'not_ready' });
      expect(driver.harness.calls()).toEqual(['GetSecret', 'SetSecret']);
    },
  );

  test('is not ready while the vault is deleting it', async () => {
    const slow = await startHarness({ deletionMs: 60_000 });
    const connected = await slow.connect();
    const request = putRequest(slow.freshName(), 'one');
    await connected.put(request, signal());
    await slow.stranger.beginDeleteSecret(request.externalName);
    await expect(connected.put(request, signal())).rejects.toMatchObject({ kind: 'not_ready' });
    await connected.close();
    await slow.stop();
  });

  test('is not ready if its recovery takes longer than a few seconds, and is updated afterwards', async () => {
    let ahead = 0;
    const slow = await startHarness({ recoveryMs: 60_000 }, { clock: () => Date.now() + ahead });
    const connected = await slow.connect();
    const request = putRequest(slow.freshName(), 'one');
    await connected.put(request, signal());
    await slow.stranger.beginDeleteSecret(request.externalName);
    const startedAt = Date.now();
    const changed = putRequest(request.externalName, 'two');
    await expect(connected.put(changed, signal())).rejects.toMatchObject({
      kind: 'not_ready',
      message: expect.stringContaining('still being recovered'),
    });
    expect(Date.now() - startedAt).toBeLessThan(20_000);
    await expect(connected.put(changed, signal())).rejects.toMatchObject({ kind: 'not_ready' });
    ahead = 60_000;
    await connected.put(changed, signal());
    expect(slow.held(request.externalName)).toMatchObject({ value: 'two', deleted_at: null });
    await connected.close();
    await slow.stop();
  });

  test('is recovered in time if the vault takes a moment', async () => {
    const slow = await startHarness({ recoveryMs: 400 });
    const connected = await slow.connect();
    const request = putRequest(slow.freshName(), 'one');
    await connected.put(request, signal());
    await slow.stranger.beginDeleteSecret(request.externalName);
    await connected.put(putRequest(request.externalName, 'two'), signal());
    expect(slow.held(request.externalName)?.value).toBe('two');
    await connected.close();
    await slow.stop();
  });
});

describe('cloudB-kv 2: a removed secret', () => {
  test('is deleted and purged', async () => {
    const { name, remote } = await putNew();
    await remove(name, remote);
    expect(driver.harness.held(name)).toBeUndefined();
    expect(driver.harness.calls()).toEqual([
      'GetSecret',
      'UpdateSecret',
      'DeleteSecret',
      'GetDeletedSecret',
      'PurgeDeletedSecret',
    ]);
  });

  test.each([
    [403, 'ForbiddenByRbac'],
    [403, 'ForbiddenByPolicy'],
    [429, 'Throttled'],
    [500, 'InternalServerError'],
  ])('stays deleted if the purge fails with %i %s, and the removal succeeds', async (status, code) => {
    const { name, remote } = await putNew();
    driver.failWith('PurgeDeletedSecret', status, code);
    await remove(name, remote);
    expect(driver.harness.held(name)?.deleted_at).not.toBeNull();
    driver.harness.clear();
    await put(putRequest(name, 'again'));
    expect(driver.harness.held(name)).toMatchObject({ value: 'again', deleted_at: null });
  });

  test('that stays deleted is recovered by any destination that needs the name', async () => {
    const other = driver.keep(await driver.harness.connect({ id: randomUUID() }));
    const { name, remote } = await putNew(other);
    driver.failWith('PurgeDeletedSecret', 403, 'ForbiddenByPolicy');
    await remove(name, remote, other);
    await put(putRequest(name, 'ours'));
    expect(driver.harness.held(name)).toMatchObject({ value: 'ours', deleted_at: null });
    await expect(put(putRequest(name, 'theirs'), other)).rejects.toMatchObject({ kind: 'conflict' });
  });

  test('is removed after a removal that ended between release and deletion, and kept if it was set again', async () => {
    for (const isSetAgain of [false, true]) {
      const { name, next } = await putNew();
      driver.failWith('DeleteSecret', 503, 'ServiceUnavailable');
      await expect(remove(name, null)).rejects.toMatchObject({ kind: 'unavailable' });
      driver.harness.clear();
      if (isSetAgain) await put({ ...next('two'), verify: true });
      const other = driver.keep(await driver.harness.connect({ id: randomUUID() }));
      await remove(name, null, isSetAgain ? other : undefined);
      expect(driver.harness.held(name)?.value).toBe(isSetAgain ? 'two' : undefined);
    }
  });

  test('is deleted although the credentials may not change its tags', async () => {
    const { name, remote } = await putNew();
    driver.failWith('UpdateSecret', 403, 'ForbiddenByRbac');
    await remove(name, remote);
    expect(driver.harness.held(name)).toBeUndefined();
  });

  test('is purged when the vault has deleted it, or stays deleted if that takes too long', async () => {
    for (const [deletionMs, isPurged] of [
      [300, true],
      [60_000, false],
    ] as const) {
      const slow = await startHarness({ deletionMs });
      const connected = await slow.connect();
      const request = putRequest(slow.freshName(), 'one');
      const { remote } = await connected.put(request, signal());
      await connected.remove({ ...request, remote }, signal());
      expect(slow.held(request.externalName) === undefined).toBe(isPurged);
      await connected.close();
      await slow.stop();
    }
  });

  test('that nobody requested in sync is not purged', async () => {
    const connected = driver.keep(await driver.harness.connect());
    const request = putRequest(driver.harness.freshName(), 'one');
    const { remote } = await connected.put(request, signal());
    await connected.remove({ ...request, remote, isRecoverable: true }, signal());
    expect(driver.harness.held(request.externalName)).toMatchObject({ deleted_at: expect.any(String) });
  });

  test('that somebody else deletes at the same time is removed', async () => {
    const { name, remote } = await putNew();
    driver.failWith('DeleteSecret', 404, 'SecretNotFound');
    driver.failWith('PurgeDeletedSecret', 403, 'ForbiddenByRbac');
    await remove(name, remote);
  });

  test('that is already deleted stays so', async () => {
    const { name, remote } = await putNew();
    await deleteAsStranger(name);
    driver.harness.calls();
    await remove(name, remote);
    // The update of its last version shows that the secret was not just written.
    expect(driver.harness.calls()).toEqual(['GetSecret', 'UpdateSecret']);
  });
});
