import { RemoveRegionsFromReplicationCommand } from '@aws-sdk/client-secrets-manager';
import { describe, expect, test } from '@jest/globals';
import { putRequest, untilReady } from '@secrets/sync-worker/testing';
import { startHarness } from './sandbox-harness.ts';
import { useDriver } from './use-driver.ts';

const driver = useDriver();
const { connect, put, putNew, remove } = driver;
const signal = () => AbortSignal.timeout(60_000);

describe('replicas', () => {
  test('cloudA-sm 7 and 10: are added, follow the settings, and are removed before the secret', async () => {
    const [one, two] = [
      await connect({ replica_regions: ['eu-west-1'] }),
      await connect({ replica_regions: ['eu-west-2'] }),
    ];
    const { name, request, remote } = await putNew(one);
    expect(driver.harness.held(name, 'eu-west-1')?.value).toBe('one');
    const moved = await put({ ...request, remote, valueChanged: false }, two);
    expect(driver.harness.held(name, 'eu-west-1')).toBeUndefined();
    expect(driver.harness.held(name, 'eu-west-2')?.value).toBe('one');
    driver.harness.calls();
    await remove(name, moved.remote, two);
    expect(driver.harness.calls()).toEqual([
      'DescribeSecret',
      'RemoveRegionsFromReplication',
      'DeleteSecret',
    ]);
    expect(driver.harness.held(name, 'eu-west-2')).toBeUndefined();
  });

  test.each(['a new value', 'a comparison', 'a change of tags'])(
    'that somebody else has removed are restored by %s, each with its key',
    async (occasion) => {
      const settings = { replica_regions: { 'eu-west-1': 'alias/sandbox', 'eu-west-2': '' } };
      const mirrored = await connect(settings);
      const { name, next, unchanged, verification } = await putNew(mirrored);
      const state = driver.harness.stateOf(name);
      await driver.harness.stranger.send(
        new RemoveRegionsFromReplicationCommand({ SecretId: name, RemoveReplicaRegions: ['eu-west-1'] }),
      );
      expect(driver.harness.held(name, 'eu-west-1')).toBeUndefined();
      if (occasion === 'a new value') await put(next('two'), mirrored);
      else if (occasion === 'a comparison') await put(verification, mirrored);
      else await put(unchanged, await connect({ ...settings, custom_tags: { team: 'a' } }));
      const value = occasion === 'a new value' ? 'two' : 'one';
      expect(driver.harness.held(name, 'eu-west-1')?.value).toBe(value);
      expect(driver.harness.held(name, 'eu-west-2')?.value).toBe(value);
      if (occasion !== 'a change of tags') expect(driver.harness.stateOf(name)).toEqual(state);
    },
  );

  test('conflict with a secret of the same name in their region, until it is removed', async () => {
    const west = await connect({ region: 'eu-west-1' });
    const blocked = putRequest(driver.harness.freshName(), 'other');
    await put(blocked, west);
    const mirrored = await connect({ replica_regions: ['eu-west-1'] });
    const request = putRequest(blocked.externalName, 'one');
    await expect(put(request, mirrored)).rejects.toMatchObject({ kind: 'conflict' });
    expect(driver.harness.held(blocked.externalName, 'eu-west-1')?.value).toBe('other');
    await remove(blocked.externalName, null, west);
    await untilReady(() => put(request, mirrored), ['not_ready', 'conflict']);
    expect(driver.harness.held(blocked.externalName, 'eu-west-1')?.value).toBe('one');
  });

  test('in progress make the put not ready, and then its outcome is reported', async () => {
    let ahead = 0;
    const own = await startHarness({ replicationMs: 3_600_000 }, { clock: () => Date.now() + ahead });
    const [mirrored, west] = [
      await own.connect({ settings: { replica_regions: ['eu-west-1'] } }),
      await own.connect({ settings: { region: 'eu-west-1' } }),
    ];
    const [free, blocked] = [putRequest(own.freshName(), 'one'), putRequest(own.freshName(), 'one')];
    await west.put({ ...putRequest(blocked.externalName, 'other') }, signal());
    for (const request of [free, blocked]) {
      for (const _again of [1, 2])
        await expect(mirrored.put(request, signal())).rejects.toMatchObject({
          kind: 'not_ready',
          message: 'the secret is still being replicated to eu-west-1',
        });
    }
    expect(own.calls().filter((call) => call === 'ReplicateSecretToRegions')).toHaveLength(2);
    ahead = 3_600_000;
    await mirrored.put(free, signal());
    await expect(mirrored.put(blocked, signal())).rejects.toMatchObject({ kind: 'conflict' });
    expect(own.held(blocked.externalName, 'eu-west-1')?.value).toBe('other');
    await Promise.all([mirrored.close(), west.close()]);
    await own.stop();
  });

  test('are neither taken over nor removed in their own region', async () => {
    const { name } = await putNew(await connect({ replica_regions: ['eu-west-3'] }));
    const there = await connect({ region: 'eu-west-3' });
    await expect(put(putRequest(name, 'x', { overwrite: true }), there)).rejects.toMatchObject({
      kind: 'conflict',
    });
    await remove(name, null, there);
    expect(driver.harness.held(name, 'eu-west-3')?.value).toBe('one');
  });
});
