import {
  DeleteSecretCommand,
  TagResourceCommand,
  UntagResourceCommand,
} from '@aws-sdk/client-secrets-manager';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Json } from '@secrets/domain';
import { seal } from '@secrets/seal';
import { type ConnectedDestination, createEgressGuard, type PutRequest } from '@secrets/sync-worker';
import { newValue, putRequest } from '@secrets/sync-worker/testing';
import { type CloudAHarness, startHarness, writePast } from './sandbox-harness.ts';

const signal = () => AbortSignal.timeout(60_000);
let harness: CloudAHarness;
let store: ConnectedDestination;
const opened: ConnectedDestination[] = [];

beforeAll(async () => {
  harness = await startHarness();
  store = await connect();
});
afterEach(() => harness.clear());
afterAll(async () => {
  await Promise.all(opened.map((connected) => connected.close()));
  await harness.stop();
});

async function connect(settings: Record<string, unknown> = {}): Promise<ConnectedDestination> {
  const connected = await harness.connect({ settings });
  opened.push(connected);
  return connected;
}

const put = (request: PutRequest, on = store) => on.put(request, signal());
const remove = (externalName: string, remote: Json | null = null, on = store) =>
  on.remove({ entryId: 'entry', externalName, remote }, signal());

/** A secret of ours, and a request for its next value. */
async function planted(on = store, value = 'one') {
  const request = putRequest(harness.freshName(), value);
  const { remote } = await put(request, on);
  harness.calls();
  return {
    name: request.externalName,
    remote,
    next: (text: string) => ({ ...request, ...newValue(request, text), remote }),
    request,
  };
}

describe('calls', () => {
  test('a new secret is one call, with its tags; a new value of a known one is one; a tag alone is one', async () => {
    const { next, request, remote, name } = await planted();
    expect(harness.held(name)?.tags).toEqual({
      'managed-by': 'secrets-sync',
      'secrets-destination': '5b0a6c3e-0000-4000-8000-000000000001',
    });
    await put(next('two'));
    expect(harness.calls()).toEqual(['PutSecretValue']);
    const tagged = await connect({ custom_tags: { team: 'a' } });
    await put({ ...request, remote, valueChanged: false }, tagged);
    expect(harness.calls()).toEqual(['TagResource']);
    expect(harness.held(name)?.version_count).toBe(2);
  });

  test('no list decides anything', async () => {
    harness.sandbox.cloudA.faults.add({
      effect: 'error',
      operation: 'ListSecrets',
      code: 'AccessDeniedException',
    });
    const { name, remote } = await planted();
    await remove(name, remote);
    expect(harness.held(name)).toBeUndefined();
  });

  test('keys are sent only when configured', async () => {
    const keyed = await connect({ kms_key_id: 'alias/mine' });
    const { request, remote } = await planted();
    await put({ ...request, remote, valueChanged: false }, keyed);
    expect(harness.calls()).toEqual(['UpdateSecret']);
    await planted(keyed);
    const creations = harness.sandbox.cloudA.calls().filter(({ operation }) => operation === 'CreateSecret');
    expect(creations.at(-1)?.sent).toContain('KmsKeyId');
    expect(creations.at(-2)?.sent).not.toContain('KmsKeyId');
  });
});

describe('a secret scheduled for deletion', () => {
  const schedule = (name: string) =>
    harness.stranger.send(new DeleteSecretCommand({ SecretId: name, RecoveryWindowInDays: 7 }));

  test('of ours is restored and brought up to date, known or not', async () => {
    for (const isKnown of [true, false]) {
      const { name, next } = await planted();
      await schedule(name);
      await put(
        { ...next('two'), ...(isKnown ? {} : { remote: null }) },
        await connect({ custom_tags: { team: 'a' } }),
      );
      expect(harness.held(name)).toMatchObject({ value: 'two', deleted_at: null, tags: { team: 'a' } });
    }
  });

  test('of somebody else is left alone', async () => {
    const name = harness.freshName();
    await harness.plantForeign(name, 'theirs');
    await schedule(name);
    await expect(put(putRequest(name, 'ours'))).rejects.toMatchObject({ kind: 'conflict' });
    expect(harness.held(name)?.deleted_at).not.toBeNull();
  });

  test('is removed already', async () => {
    const { name, remote } = await planted();
    await schedule(name);
    await remove(name, remote);
    expect(harness.held(name)?.deleted_at).not.toBeNull();
  });
});

describe('removal', () => {
  test('with a recovery window keeps it', async () => {
    const careful = await connect({ recovery_window_days: 7 });
    const { name, remote } = await planted(careful);
    await remove(name, remote, careful);
    const left = new Date(String(harness.held(name)?.deleted_at)).getTime() - Date.now();
    expect(left / 86_400_000).toBeCloseTo(7, 1);
  });

  test('an unknown state is not absence: a refused look deletes nothing and says so', async () => {
    const { name, remote } = await planted();
    harness.sandbox.cloudA.faults.add({
      effect: 'error',
      operation: 'DescribeSecret',
      code: 'AccessDeniedException',
    });
    await expect(remove(name, remote)).rejects.toMatchObject({ kind: 'forbidden' });
    expect(harness.held(name)?.value).toBe('one');
  });

  test('finds what took the place of the known one', async () => {
    const { name, remote, request } = await planted();
    await harness.stranger.send(
      new DeleteSecretCommand({ SecretId: name, ForceDeleteWithoutRecovery: true }),
    );
    await new Promise((resolve) => setTimeout(resolve, 5));
    await put({ ...request, ...newValue(request, 'two') });
    await remove(name, remote);
    expect(harness.held(name)).toBeUndefined();
  });

  test('right after it, the name is still taken: wait a little', async () => {
    const slow = await startHarness({ forcedDeleteMs: 60_000 });
    const connected = await slow.connect();
    const request = putRequest(slow.freshName(), 'one');
    const { remote } = await connected.put(request, signal());
    await connected.remove({ entryId: 'e', externalName: request.externalName, remote }, signal());
    const again = { ...request, ...newValue(request, 'two') };
    await expect(connected.put(again, signal())).rejects.toMatchObject({
      kind: 'not_ready',
      message: expect.stringContaining('still in use by a secret that is being deleted'),
    });
    await connected.close();
    await slow.stop();
  });
});

describe('what somebody changed behind our back', () => {
  test('is repaired when asked to look: value, tags', async () => {
    const { name, request, remote } = await planted();
    await writePast(harness, name, 'drifted');
    const untag = { SecretId: name, TagKeys: ['secrets-destination'] };
    await harness.stranger.send(new UntagResourceCommand(untag));
    await put({ ...request, remote, valueChanged: false, verify: true });
    expect(harness.held(name)).toMatchObject({ value: 'one', tags: { 'managed-by': 'secrets-sync' } });
    expect(harness.held(name)?.tags).toHaveProperty('secrets-destination');
  });

  test('a value that may not be read is written again', async () => {
    const { name, request, remote } = await planted();
    await writePast(harness, name, 'drifted');
    harness.sandbox.cloudA.faults.add({
      effect: 'error',
      operation: 'GetSecretValue',
      code: 'AccessDeniedException',
    });
    await put({ ...request, remote, valueChanged: false, verify: true });
    expect(harness.held(name)?.value).toBe('one');
  });

  test('foreign tags stay when ours go', async () => {
    const tagged = await connect({ custom_tags: { team: 'a' } });
    const { name, request, remote } = await planted(tagged);
    await harness.stranger.send(
      new TagResourceCommand({ SecretId: name, Tags: [{ Key: 'theirs', Value: 'x' }] }),
    );
    await put({ ...request, remote, valueChanged: false, verify: true });
    expect(harness.held(name)?.tags).toMatchObject({ theirs: 'x' });
    expect(harness.held(name)?.tags).not.toHaveProperty('team');
  });
});

describe('replicas', () => {
  test('are added, follow the destination, and go first', async () => {
    const [one, two] = [
      await connect({ replica_regions: ['eu-west-1'] }),
      await connect({ replica_regions: ['eu-west-2'] }),
    ];
    const { name, request, remote } = await planted(one);
    expect(harness.held(name, 'eu-west-1')?.value).toBe('one');
    const moved = await put({ ...request, remote, valueChanged: false }, two);
    expect(harness.held(name, 'eu-west-1')).toBeUndefined();
    expect(harness.held(name, 'eu-west-2')?.value).toBe('one');
    harness.calls();
    await remove(name, moved.remote, two);
    expect(harness.calls()).toEqual(['DescribeSecret', 'RemoveRegionsFromReplication', 'DeleteSecret']);
    expect(harness.held(name, 'eu-west-2')).toBeUndefined();
  });

  test('a region that has such a secret already is a conflict, until it has none', async () => {
    const west = await connect({ region: 'eu-west-1' });
    const blocked = putRequest(harness.freshName(), 'other');
    await put(blocked, west);
    const mirrored = await connect({ replica_regions: ['eu-west-1'] });
    const request = putRequest(blocked.externalName, 'one');
    await expect(put(request, mirrored)).rejects.toMatchObject({ kind: 'conflict' });
    expect(harness.held(blocked.externalName, 'eu-west-1')?.value).toBe('other');
    await remove(blocked.externalName, null, west);
    await new Promise((resolve) => setTimeout(resolve, 5));
    await put(request, mirrored);
    expect(harness.held(blocked.externalName, 'eu-west-1')?.value).toBe('one');
  });

  test('one that is in progress is waited for, and then the put says what became of it', async () => {
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

  test('one of another region is neither taken over nor removed', async () => {
    const { name } = await planted(await connect({ replica_regions: ['eu-west-3'] }));
    const there = await connect({ region: 'eu-west-3' });
    await expect(put(putRequest(name, 'x', { overwrite: true }), there)).rejects.toMatchObject({
      kind: 'conflict',
    });
    await remove(name, null, there);
    expect(harness.held(name, 'eu-west-3')?.value).toBe('one');
  });
});

describe('ways in', () => {
  test('a wrong key pair is unauthenticated', async () => {
    const wrong = await harness.connect({
      credentials: seal({ access_key_id: 'AKIAWRONG', secret_access_key: 'canary' }),
    });
    opened.push(wrong);
    await expect(put(putRequest(harness.freshName(), 'x'), wrong)).rejects.toMatchObject({
      kind: 'unauthenticated',
    });
  });

  test('a destination without a region is rejected', async () => {
    await expect(harness.connect({ settings: { region: '' } })).rejects.toMatchObject({
      kind: 'rejected',
      message: expect.stringContaining('region'),
    });
  });

  test('the egress guard refuses a provider endpoint that resolves to a private address', async () => {
    const egress = createEgressGuard({ resolve: async () => ['169.254.169.254'] });
    const inward = await harness.driverWith({ endpointUrl: undefined }, {}, egress);
    opened.push(inward);
    await expect(put(putRequest(harness.freshName(), 'x'), inward)).rejects.toMatchObject({
      kind: 'forbidden',
      message: expect.stringMatching(/^connection to secretsmanager\.eu-central-1\.\S+ refused/),
    });
  });

  test('the region of the environment where the destination has none', async () => {
    const connected = await harness.driverWith({ defaultRegion: 'eu-north-1' }, { settings: { region: '' } });
    opened.push(connected);
    const { name } = await planted(connected);
    expect(harness.held(name, 'eu-north-1')?.value).toBe('one');
  });

  test('a role is assumed once for many calls, and again when its session has ended in mid-run', async () => {
    let ahead = 0;
    const own = await startHarness({}, { clock: () => Date.now() + ahead });
    const role_arn = own.sandbox.credentials.cloudA.roleArn;
    const connected = await own.connect({ settings: { role_arn, external_id: 'x-1' } });
    const name = own.freshName();
    const request = putRequest(name, 'one');
    const { remote } = await connected.put(request, signal());
    expect(own.calls()).toEqual(['AssumeRole', 'CreateSecret']);
    ahead = 2 * 3_600_000;
    await connected.put({ ...request, ...newValue(request, 'two'), remote }, signal());
    expect(own.calls()).toEqual(['PutSecretValue', 'AssumeRole', 'PutSecretValue']);
    expect(own.held(name)?.value).toBe('two');
    await connected.close();
    await own.stop();
  });

  test('a role that may not be assumed is forbidden and says which step failed', async () => {
    const role_arn = 'arn:aws:iam::123456789012:role/other';
    const connected = await connect({ role_arn });
    await expect(put(putRequest(harness.freshName(), 'x'), connected)).rejects.toMatchObject({
      kind: 'forbidden',
      message: 'AssumeRole of role_arn: permission denied (AccessDenied)',
    });
  });

  test('a token service that is silent is given up with the signal', async () => {
    const connected = await connect({ role_arn: harness.sandbox.credentials.cloudA.roleArn });
    harness.sandbox.cloudA.faults.add({ effect: 'silence', operation: 'AssumeRole' });
    const request = putRequest(harness.freshName(), 'x');
    await expect(connected.put(request, AbortSignal.timeout(100))).rejects.toMatchObject({
      kind: 'unavailable',
    });
  });
});
