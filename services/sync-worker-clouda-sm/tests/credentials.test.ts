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

/** Connects with a worker that lets all destinations use its credentials. */
async function sharing(
  harness: CloudAHarness,
  over: Parameters<CloudAHarness['connect']>[0],
): Promise<ConnectedDestination> {
  const destination = await harness.driverWith({ sharesIdentity: true }, over);
  closing.push(() => destination.close());
  return destination;
}

const keysOf = ({ sandbox }: CloudAHarness) => {
  const { accessKeyId, secretAccessKey } = sandbox.credentials.cloudA;
  return seal({ access_key_id: accessKeyId, secret_access_key: secretAccessKey });
};

describe("cloudA-sm 11: without a key pair, the credentials of the worker's environment are used", () => {
  const names = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'] as const;
  const before = names.map((name) => [name, process.env[name]] as const);
  afterEach(() => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });

  async function inEnvironment(...options: Parameters<typeof startHarness>): Promise<CloudAHarness> {
    const harness = await started(...options);
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

  describe('in a namespace of a tenant', () => {
    const team = { namespacePath: 'team/a', name: 'main', credentials: seal({}) };
    const derived = 'secrets-sync:team/a:cloudA-sm:main';
    const put = (store: ConnectedDestination, name: string) => store.put(putRequest(name, 'one'), signal());

    test('only if the operator shares them', async () => {
      const harness = await inEnvironment();
      await expect(connected(harness, team)).rejects.toMatchObject({
        kind: 'rejected',
        message: expect.stringMatching(/own credentials.*CLOUDA_WORKER_IDENTITY/),
      });
      const own = await connected(harness, { ...team, credentials: keysOf(harness) });
      await put(own, harness.freshName());
      const store = await sharing(harness, team);
      await put(store, harness.freshName());
      expect(harness.calls()).toEqual(['CreateSecret', 'CreateSecret']);
    });

    test('and then a role is assumed only with the external ID that names the destination', async () => {
      const role = {
        arn: 'arn:aws:iam::210987654321:role/of-team-b',
        externalId: 'secrets-sync:team/b:cloudA-sm:main',
      };
      const harness = await inEnvironment({ roles: [role] });
      const settings = { role_arn: role.arn };
      const stranger = await sharing(harness, { ...team, settings });
      await expect(put(stranger, harness.freshName())).rejects.toMatchObject({ kind: 'forbidden' });
      const guessing = sharing(harness, { ...team, settings: { ...settings, external_id: role.externalId } });
      await expect(guessing).rejects.toMatchObject({
        kind: 'rejected',
        message: `external_id: must be empty or ${derived}`,
      });
      const owner = await sharing(harness, { ...team, namespacePath: 'team/b', settings });
      const name = harness.freshName();
      await put(owner, name);
      expect(harness.held(name)?.value).toBe('one');
      const stating = { ...team, settings: { ...settings, external_id: derived } };
      await sharing(harness, stating);
    });

    test('a key pair assumes roles with the external ID of the destination', async () => {
      const role = { arn: 'arn:aws:iam::210987654321:role/theirs', externalId: 'between-us' };
      const harness = await inEnvironment({ roles: [role] });
      const settings = { role_arn: role.arn, external_id: role.externalId };
      const store = await connected(harness, { ...team, credentials: keysOf(harness), settings });
      await put(store, harness.freshName());
    });
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
        message: expect.stringMatching(
          /^AssumeRole of role_arn: the role may not be assumed \(AccessDenied\)/,
        ),
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
    message: expect.stringContaining('TagResource: the request was rejected (InvalidParameterException)'),
  });
  expect(harness.held(request.externalName)?.value).toBe('one');
});
