import {
  DescribeSecretCommand,
  TagResourceCommand,
  UpdateSecretCommand,
} from '@aws-sdk/client-secrets-manager';
import { describe, expect, test } from '@jest/globals';
import { putRequest } from '@secrets/sync-worker/testing';
import { writePast } from './sandbox-harness.ts';
import { useDriver } from './use-driver.ts';

const driver = useDriver();
const { connect, put, putNew } = driver;
const one = 'alias/sandbox';
const other = 'alias/sandbox-other';
const multiRegion = 'mrk-1234abcd12ab34cd56ef1234567890ab';
const arnIn = (region: string) => `arn:aws:kms:${region}:123456789012:key/${multiRegion}`;

const described = (SecretId: string) => driver.harness.stranger.send(new DescribeSecretCommand({ SecretId }));
const keyOf = async (name: string) => (await described(name)).KmsKeyId;
const replicaKeysOf = async (name: string) =>
  Object.fromEntries(
    (await described(name)).ReplicationStatus!.map(({ Region, KmsKeyId }) => [Region, KmsKeyId]),
  );
const changeKey = (SecretId: string, KmsKeyId: string) =>
  driver.harness.stranger.send(new UpdateSecretCommand({ SecretId, KmsKeyId }));

describe('the key of an external secret', () => {
  test('follows the settings, and is that of the provider again once none is set', async () => {
    const { name, request, unchanged, remote } = await putNew(await connect({ kms_key_id: one }));
    let state = remote;
    for (const [kms_key_id, shown] of [
      [other, other],
      ['', undefined],
      [one, one],
      ['', undefined],
    ] as const) {
      state = (await put({ ...unchanged, remote: state }, await connect({ kms_key_id }))).remote;
      expect(await keyOf(name)).toBe(shown);
    }
    expect(driver.harness.held(name)).toMatchObject({ value: request.value.reveal(), version_count: 1 });
  });

  test('is taken away together with a new value', async () => {
    const { name, next } = await putNew(await connect({ kms_key_id: one }));
    await put(next('two'), await connect());
    expect(await keyOf(name)).toBeUndefined();
  });

  test('that somebody else has chosen is kept while none is set', async () => {
    const { name, verification } = await putNew();
    await changeKey(name, other);
    await put(verification);
    expect(await keyOf(name)).toBe(other);
  });

  test('is restored by a new value', async () => {
    const keyed = await connect({ kms_key_id: one, replica_regions: ['eu-west-1'] });
    const { name, next } = await putNew(keyed);
    await changeKey(name, other);
    await put(next('two'), keyed);
    expect(await keyOf(name)).toBe(one);
  });

  test('is restored by a comparison, which recognizes its long form', async () => {
    const keyed = await connect({ kms_key_id: one });
    const { name, verification } = await putNew(keyed);
    await changeKey(name, other);
    driver.harness.calls();
    await put(verification, keyed);
    expect(driver.harness.calls()).toContain('UpdateSecret');
    await changeKey(name, `arn:aws:kms:eu-central-1:123456789012:${one}`);
    driver.harness.calls();
    await put(verification, keyed);
    expect(driver.harness.calls()).not.toContain('UpdateSecret');
  });

  test('is that of the settings although an earlier attempt created the secret with another one', async () => {
    const request = putRequest(driver.harness.freshName(), 'one');
    const die = { effect: 'act-then-die', operation: 'CreateSecret', times: 1 } as const;
    driver.harness.sandbox.cloudA.faults.add(die);
    await expect(put(request, await connect({ kms_key_id: one }))).rejects.toThrow();
    await put(request, await connect({ kms_key_id: other }));
    expect(await keyOf(request.externalName)).toBe(other);
  });
});

describe('the key of a replica', () => {
  const replicas = ['eu-west-1', 'eu-west-2'];

  test.each([
    ['the alias in its region', one, { 'eu-west-1': one, 'eu-west-2': one }],
    ['the multi-region key', multiRegion, { 'eu-west-1': multiRegion, 'eu-west-2': multiRegion }],
    [
      'the multi-region key in its region',
      arnIn('eu-central-1'),
      { 'eu-west-1': arnIn('eu-west-1'), 'eu-west-2': arnIn('eu-west-2') },
    ],
  ])('is %s if the settings list regions', async (_, kms_key_id, keys) => {
    const { name } = await putNew(await connect({ kms_key_id, replica_regions: replicas }));
    expect(await replicaKeysOf(name)).toEqual(keys);
  });

  test('follows the map of the settings, without a new replication', async () => {
    const { name, unchanged, remote } = await putNew(
      await connect({ replica_regions: { 'eu-west-1': one, 'eu-west-2': '' } }),
    );
    let state = remote;
    for (const [first, second] of [
      [other, one],
      ['', multiRegion],
      [one, ''],
    ] as const) {
      const settings = { replica_regions: { 'eu-west-1': first, 'eu-west-2': second } };
      state = (await put({ ...unchanged, remote: state }, await connect(settings))).remote;
      expect(await replicaKeysOf(name)).toEqual({
        'eu-west-1': first || undefined,
        'eu-west-2': second || undefined,
      });
    }
    expect(driver.harness.calls()).not.toContain('ReplicateSecretToRegions');
  });

  test('is set on replicas that an earlier version has added without one', async () => {
    const mirrored = await connect({ kms_key_id: multiRegion, replica_regions: ['eu-west-1'] });
    const { name, next, remote } = await putNew(await connect({ replica_regions: ['eu-west-1'] }));
    const { replicaKeys: _, ...earlier } = remote as Record<string, never>;
    await put({ ...next('two'), remote: earlier }, mirrored);
    expect(await replicaKeysOf(name)).toEqual({ 'eu-west-1': multiRegion });
  });

  test.each([
    ['does not exist there', 'alias/missing', /KMS key/],
    ['is disabled', 'alias/sandbox-disabled', /KMS key/],
    ['may not be used', 'alias/sandbox-denied', /KMS key/],
  ])('is named as the reason if it %s', async (_, key, reason) => {
    const mirrored = await connect({ replica_regions: { 'eu-west-1': key } });
    const refused = put(putRequest(driver.harness.freshName(), 'one'), mirrored);
    await expect(refused).rejects.toMatchObject({
      kind: 'rejected',
      mayPass: true,
      message: expect.stringMatching(reason),
    });
  });
});

test('a change of tags repairs a value that somebody else has written', async () => {
  const { name, unchanged } = await putNew();
  await writePast(driver.harness, name, 'by hand');
  await put(unchanged, await connect({ custom_tags: { team: 'a' } }));
  expect(driver.harness.held(name)).toMatchObject({ value: 'one', tags: { team: 'a' } });
});

test('what others have set survives new values, keys and tags', async () => {
  const { name, next } = await putNew();
  await driver.harness.stranger.send(new UpdateSecretCommand({ SecretId: name, Description: 'theirs' }));
  const Tags = [{ Key: 'theirs', Value: 'x' }];
  await driver.harness.stranger.send(new TagResourceCommand({ SecretId: name, Tags }));
  await put(next('two'), await connect({ kms_key_id: one, custom_tags: { team: 'a' } }));
  expect(await described(name)).toMatchObject({ Description: 'theirs', KmsKeyId: one });
  expect(driver.harness.held(name)?.tags).toMatchObject({ theirs: 'x', team: 'a' });
});
