import { randomUUID } from 'node:crypto';
import {
  DeleteSecretCommand,
  TagResourceCommand,
  UntagResourceCommand,
} from '@aws-sdk/client-secrets-manager';
import { describe, expect, test } from '@jest/globals';
import { newValue, putRequest, untilReady } from '@secrets/sync-worker/testing';
import { startHarness, writePast } from './sandbox-harness.ts';
import { useDriver } from './use-driver.ts';

const driver = useDriver();
const { connect, put, putNew, remove } = driver;
const signal = () => AbortSignal.timeout(60_000);

describe('calls', () => {
  test('cloudA-sm 5: a new secret takes one call, and a new value or a changed tag a look before it', async () => {
    const { next, request, name } = await putNew();
    expect(driver.harness.held(name)?.tags).toEqual({
      'managed-by': 'secrets-sync',
      'secrets-destination': '5b0a6c3e-0000-4000-8000-000000000001',
    });
    const { remote } = await put(next('two'));
    expect(driver.harness.calls()).toEqual(['DescribeSecret', 'PutSecretValue']);
    const tagged = await connect({ custom_tags: { team: 'a' } });
    await put({ ...request, remote, valueChanged: false }, tagged);
    expect(driver.harness.calls()).toEqual(['DescribeSecret', 'TagResource']);
    expect(driver.harness.held(name)?.version_count).toBe(2);
  });

  test('cloudA-sm 1: put and remove do not depend on a list', async () => {
    driver.failWith('ListSecrets', 'AccessDeniedException');
    const { name, remote } = await putNew();
    await remove(name, remote);
    expect(driver.harness.held(name)).toBeUndefined();
  });

  test('cloudA-sm 10: a key is sent only if it is configured', async () => {
    const keyed = await connect({ kms_key_id: 'alias/sandbox' });
    const { request, remote } = await putNew();
    await put({ ...request, remote, valueChanged: false }, keyed);
    expect(driver.harness.calls()).toEqual(['DescribeSecret', 'UpdateSecret']);
    await putNew(keyed);
    const creations = driver.harness.sandbox.cloudA
      .calls()
      .filter(({ operation }) => operation === 'CreateSecret');
    expect(creations.at(-1)?.sent).toContain('KmsKeyId');
    expect(creations.at(-2)?.sent).not.toContain('KmsKeyId');
  });
});

test('cloudA-sm 4: a put that is repeated after a lost response writes one version', async () => {
  const { name, next } = await putNew();
  const changed = next('two');
  driver.harness.sandbox.cloudA.faults.add({ effect: 'act-then-die', operation: 'PutSecretValue', times: 1 });
  await expect(put(changed)).rejects.toMatchObject({ kind: 'unavailable' });
  await put(changed);
  expect(driver.harness.held(name)).toMatchObject({ value: 'two', version_count: 2 });
});

describe('cloudA-sm 2: a secret scheduled for deletion', () => {
  const schedule = (name: string) =>
    driver.harness.stranger.send(new DeleteSecretCommand({ SecretId: name, RecoveryWindowInDays: 7 }));

  test('is restored and updated if it belongs to the destination', async () => {
    for (const isKnown of [true, false]) {
      const { name, next } = await putNew();
      await schedule(name);
      await put(
        { ...next('two'), ...(isKnown ? {} : { remote: null }) },
        await connect({ custom_tags: { team: 'a' } }),
      );
      expect(driver.harness.held(name)).toMatchObject({
        value: 'two',
        deleted_at: null,
        tags: { team: 'a' },
      });
    }
  });

  test('is not changed if it belongs to somebody else', async () => {
    const name = driver.harness.freshName();
    await driver.harness.plantForeign(name, 'theirs');
    await schedule(name);
    await expect(put(putRequest(name, 'ours'))).rejects.toMatchObject({ kind: 'conflict' });
    expect(driver.harness.held(name)?.deleted_at).not.toBeNull();
  });

  test('cloudA-sm 6: is not restored, even with overwrite, if it belongs to another destination', async () => {
    const other = driver.keep(await driver.harness.connect({ id: randomUUID() }));
    const { name } = await putNew(other);
    await schedule(name);
    const ours = putRequest(name, 'ours', { overwrite: true });
    await expect(put(ours)).rejects.toMatchObject({
      kind: 'conflict',
      message: expect.stringContaining('belongs to another destination'),
    });
    expect(driver.harness.held(name)?.deleted_at).not.toBeNull();
  });

  test('cloudA-sm 7: stays scheduled when it is removed', async () => {
    const { name, remote } = await putNew();
    await schedule(name);
    await remove(name, remote);
    expect(driver.harness.held(name)?.deleted_at).not.toBeNull();
  });
});

describe('a secret that is taken over', () => {
  const ours = '{"a":1,"b":2}';
  const takeOver = async (theirs: string) => {
    const name = driver.harness.freshName();
    await driver.harness.plantForeign(name, theirs);
    driver.harness.calls();
    const request = putRequest(name, ours, { overwrite: true });
    const { remote } = await put(request);
    return { name, request, remote, calls: driver.harness.calls() };
  };

  test.each([ours, '{"b": 2, "a": 1}'])(
    'gets the tags, and no value that is equal to the one that it has (%s)',
    async (theirs) => {
      const { name, request, remote, calls } = await takeOver(theirs);
      expect(calls).toEqual(['CreateSecret', 'DescribeSecret', 'TagResource', 'GetSecretValue']);
      expect(driver.harness.held(name)).toMatchObject({ value: theirs, version_count: 1 });
      await put({ ...request, remote, valueChanged: false, verify: true, overwrite: false });
      await put({ ...request, remote: null, overwrite: false }); // as after a crash before the outcome was recorded
      expect(driver.harness.held(name)).toMatchObject({ value: theirs, version_count: 1 });
      await put({ ...putRequest(name, 'new'), entryId: request.entryId, remote });
      expect(driver.harness.held(name)).toMatchObject({ value: 'new', version_count: 2 });
    },
  );

  test('gets the value if it has another one, or if the credentials may not read it', async () => {
    const other = await takeOver('{"a":2}');
    expect(driver.harness.held(other.name)).toMatchObject({ value: ours, version_count: 2 });
    driver.failWith('GetSecretValue', 'AccessDeniedException');
    const hidden = await takeOver(ours);
    expect(driver.harness.held(hidden.name)).toMatchObject({ value: ours, version_count: 2 });
  });
});

describe('a new value', () => {
  test('restores tags that somebody else has changed or removed, and keeps those of others', async () => {
    const tagged = await connect({ custom_tags: { team: 'a' } });
    const { name, next } = await putNew(tagged);
    const { stranger, held } = driver.harness;
    const before = held(name)?.tags;
    await stranger.send(new UntagResourceCommand({ SecretId: name, TagKeys: ['managed-by'] }));
    const Tags = Object.entries({ team: 'theirs', theirs: 'x' }).map(([Key, Value]) => ({ Key, Value }));
    await stranger.send(new TagResourceCommand({ SecretId: name, Tags }));
    await put(next('two'), tagged);
    expect(held(name)).toMatchObject({ value: 'two', tags: { ...before, theirs: 'x' } });
  });

  test('does not reach a secret that another destination has marked since', async () => {
    const { name, next } = await putNew();
    const Tags = [{ Key: 'secrets-destination', Value: randomUUID() }];
    await driver.harness.stranger.send(new TagResourceCommand({ SecretId: name, Tags }));
    await expect(put(next('two'))).rejects.toMatchObject({ kind: 'conflict' });
    expect(driver.harness.held(name)?.value).toBe('one');
  });
});

describe('removal', () => {
  test('with a recovery window schedules the deletion', async () => {
    const careful = await connect({ recovery_window_days: 7 });
    const { name, remote } = await putNew(careful);
    await remove(name, remote, careful);
    const left = new Date(String(driver.harness.held(name)?.deleted_at)).getTime() - Date.now();
    expect(left / 86_400_000).toBeCloseTo(7, 1);
  });

  test.each([
    [{}, 7],
    [{ recovery_window_days: 30 }, 30],
  ])(
    'that nobody requested in sync stays recoverable, with the settings %j for %i days',
    async (settings, days) => {
      const connected = await connect(settings);
      const request = putRequest(driver.harness.freshName(), 'one');
      const { remote } = await connected.put(request, signal());
      await connected.remove({ ...request, remote, isRecoverable: true }, signal());
      const until = new Date(String(driver.harness.held(request.externalName)?.deleted_at)).getTime();
      expect((until - Date.now()) / 86_400_000).toBeCloseTo(days, 1);
    },
  );

  test('with a recovery window leaves the name to any destination that needs it', async () => {
    const careful = await connect({ recovery_window_days: 7 });
    const { name, remote } = await putNew(careful);
    await remove(name, remote, careful);
    const other = driver.keep(await driver.harness.connect({ id: randomUUID() }));
    await put(putRequest(name, 'theirs'), other);
    expect(driver.harness.held(name)).toMatchObject({ value: 'theirs', deleted_at: null });
    await expect(put(putRequest(name, 'ours'), careful)).rejects.toMatchObject({ kind: 'conflict' });
  });

  test('with a recovery window schedules the deletion although the credentials may not change tags', async () => {
    const careful = await connect({ recovery_window_days: 7 });
    const { name, remote } = await putNew(careful);
    driver.failWith('TagResource', 'AccessDeniedException');
    await remove(name, remote, careful);
    expect(driver.harness.held(name)?.deleted_at).not.toBeNull();
  });

  test('deletes nothing if the secret cannot be described', async () => {
    const { name, remote } = await putNew();
    driver.failWith('DescribeSecret', 'AccessDeniedException');
    await expect(remove(name, remote)).rejects.toMatchObject({ kind: 'forbidden' });
    expect(driver.harness.held(name)?.value).toBe('one');
  });

  test('finds a secret that replaced the known one', async () => {
    const { name, remote, request } = await putNew();
    await driver.harness.stranger.send(
      new DeleteSecretCommand({ SecretId: name, ForceDeleteWithoutRecovery: true }),
    );
    await untilReady(() => put({ ...request, ...newValue(request, 'two') }));
    await remove(name, remote);
    expect(driver.harness.held(name)).toBeUndefined();
  });

  test('cloudA-sm 3: leaves the name in use for a while, and a put is not ready until then', async () => {
    const slow = await startHarness({ forcedDeleteMs: 60_000 });
    const connected = await slow.connect();
    const request = putRequest(slow.freshName(), 'one');
    const { remote } = await connected.put(request, signal());
    await connected.remove({ ...request, remote }, signal());
    const again = { ...request, ...newValue(request, 'two') };
    await expect(connected.put(again, signal())).rejects.toMatchObject({
      kind: 'not_ready',
      message: expect.stringContaining('still in use by a secret that is being deleted'),
    });
    await connected.close();
    await slow.stop();
  });
});

describe('a put with verify', () => {
  test('repairs value and tags that were changed from outside', async () => {
    const { name, request, remote } = await putNew();
    await writePast(driver.harness, name, 'drifted');
    const untag = { SecretId: name, TagKeys: ['secrets-destination'] };
    await driver.harness.stranger.send(new UntagResourceCommand(untag));
    await put({ ...request, remote, valueChanged: false, verify: true });
    expect(driver.harness.held(name)).toMatchObject({ value: 'one', tags: { 'managed-by': 'secrets-sync' } });
    expect(driver.harness.held(name)?.tags).toHaveProperty('secrets-destination');
  });

  test('writes a value that may have changed once, also if the attempt is repeated (cloudA-sm 4)', async () => {
    const { name, request, remote } = await putNew();
    const again = { ...request, remote, valueChanged: true, verify: true, idempotencyToken: 'b'.repeat(64) };
    await put(again);
    await put(again);
    expect(driver.harness.held(name)).toMatchObject({ value: 'one', version_count: 2 });
  });

  test('needs no permission to read values', async () => {
    const { name, request, remote } = await putNew();
    driver.failWith('GetSecretValue', 'AccessDeniedException');
    await put({ ...request, remote, valueChanged: false, verify: true });
    expect(driver.harness.held(name)?.version_count).toBe(1);
  });

  test('keeps foreign tags and removes its own', async () => {
    const tagged = await connect({ custom_tags: { team: 'a' } });
    const { name, request, remote } = await putNew(tagged);
    await driver.harness.stranger.send(
      new TagResourceCommand({ SecretId: name, Tags: [{ Key: 'theirs', Value: 'x' }] }),
    );
    await put({ ...request, remote, valueChanged: false, verify: true });
    expect(driver.harness.held(name)?.tags).toMatchObject({ theirs: 'x' });
    expect(driver.harness.held(name)?.tags).not.toHaveProperty('team');
  });
});
