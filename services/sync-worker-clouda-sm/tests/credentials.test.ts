import { TagResourceCommand } from '@aws-sdk/client-secrets-manager';
import { afterEach, describe, expect, test } from '@jest/globals';
import { seal } from '@secrets/seal';
import type { ConnectedDestination } from '@secrets/sync-worker';
import { newValue, putRequest } from '@secrets/sync-worker/testing';
import { type CloudAHarness, startHarness } from './sandbox-harness.ts';

const signal = () => AbortSignal.timeout(60_000);
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function started(...options: Parameters<typeof startHarness>): Promise<CloudAHarness> {
  const harness = await startHarness(...options);
  closing.push(() => harness.stop());
  return harness;
}

async function connected(
  harness: CloudAHarness,
  over: Parameters<CloudAHarness['connect']>[0],
): Promise<ConnectedDestination> {
  const destination = await harness.connect(over);
  closing.push(() => destination.close());
  return destination;
}

describe("cloudA-sm 11: without a key pair, the credentials of the worker's environment are used", () => {
  const names = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'] as const;
  const before = names.map((name) => [name, process.env[name]] as const);
  afterEach(() => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });

  async function inEnvironment(): Promise<CloudAHarness> {
    const harness = await started();
    const { accessKeyId, secretAccessKey } = harness.sandbox.credentials.cloudA;
    Object.assign(process.env, { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey });
    return harness;
  }

  test('for calls', async () => {
    const harness = await inEnvironment();
    const store = await connected(harness, { credentials: seal({}) });
    const request = putRequest(harness.freshName(), 'one');
    await store.put(request, signal());
    expect(harness.held(request.externalName)?.value).toBe('one');
  });

  test('to assume the role', async () => {
    const harness = await inEnvironment();
    const role_arn = harness.sandbox.credentials.cloudA.roleArn;
    const store = await connected(harness, { credentials: seal({}), settings: { role_arn } });
    await store.put(putRequest(harness.freshName(), 'one'), signal());
    expect(harness.calls()).toEqual(['AssumeRole', 'CreateSecret']);
  });
});

describe('cloudA-sm 9: a role', () => {
  test('is assumed only with its external ID', async () => {
    const role = { arn: 'arn:aws:iam::210987654321:role/theirs', externalId: 'between-us' };
    const harness = await started({ roles: [role] });
    const request = putRequest(harness.freshName(), 'one');
    for (const external_id of ['', 'guessed']) {
      const stranger = await connected(harness, { settings: { role_arn: role.arn, external_id } });
      await expect(stranger.put(request, signal())).rejects.toMatchObject({
        kind: 'forbidden',
        message: expect.stringMatching(/^AssumeRole of role_arn: .*\(AccessDenied\)$/),
      });
    }
    const trusted = await connected(harness, {
      settings: { role_arn: role.arn, external_id: role.externalId },
    });
    await trusted.put(request, signal());
    expect(harness.held(request.externalName)?.value).toBe('one');
  });

  test('is assumed again when less than five minutes of its session are left', async () => {
    const harness = await started({ sessionSeconds: 299 });
    const role_arn = harness.sandbox.credentials.cloudA.roleArn;
    const store = await connected(harness, { settings: { role_arn } });
    const request = putRequest(harness.freshName(), 'one');
    const { remote } = await store.put(request, signal());
    harness.calls();
    await store.put({ ...request, ...newValue(request, 'two'), remote }, signal());
    const calls = harness.calls();
    expect([calls.at(0), calls.at(-1)]).toEqual(['AssumeRole', 'PutSecretValue']);
  });

  test('whose sessions are refused is assumed once more before the call fails', async () => {
    const harness = await started();
    const role_arn = harness.sandbox.credentials.cloudA.roleArn;
    const store = await connected(harness, { settings: { role_arn } });
    harness.sandbox.cloudA.faults.add({
      effect: 'error',
      operation: 'CreateSecret',
      code: 'ExpiredTokenException',
    });
    const request = putRequest(harness.freshName(), 'one');
    await expect(store.put(request, signal())).rejects.toMatchObject({ kind: 'unauthenticated' });
    expect(harness.calls()).toEqual(['AssumeRole', 'CreateSecret', 'AssumeRole', 'CreateSecret']);
  });
});

test('too many tags, foreign ones included, are rejected, and the secret keeps its value', async () => {
  const harness = await started();
  const store = await connected(harness, {});
  const request = putRequest(harness.freshName(), 'one');
  const { remote } = await store.put(request, signal());
  const Tags = Array.from({ length: 48 }, (_, number) => ({ Key: `theirs-${number}`, Value: 'x' }));
  await harness.stranger.send(new TagResourceCommand({ SecretId: request.externalName, Tags }));
  const tagged = await connected(harness, { settings: { custom_tags: { team: 'a' } } });
  const change = { ...request, remote, valueChanged: false };
  await expect(tagged.put(change, signal())).rejects.toMatchObject({
    kind: 'rejected',
    message: 'TagResource: the request was rejected (InvalidParameterException)',
  });
  expect(harness.held(request.externalName)?.value).toBe('one');
});
