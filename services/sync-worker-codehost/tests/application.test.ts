import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { CodehostOptions } from '@secrets/sandbox';
import { seal } from '@secrets/seal';
import type { ConnectedDestination } from '@secrets/sync-worker';
import { newValue, ownWords, putRequest } from '@secrets/sync-worker/testing';
import { type CodehostHarness, startHarness } from './sandbox-harness.ts';

const signal = () => AbortSignal.timeout(60_000);
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function started(options: CodehostOptions = {}): Promise<CodehostHarness> {
  const harness = await startHarness(options);
  closing.push(() => harness.stop());
  return harness;
}

interface Over {
  installation_id?: string;
  app_id?: string;
  private_key?: string;
}

/** Connects as the sandbox's application, as the runtime completes its credentials. */
async function asApplication(harness: CodehostHarness, over: Over = {}): Promise<ConnectedDestination> {
  const { appId, installationId } = harness.sandbox.credentials.codehost;
  const { privateKey } = harness.sandbox.codehost.generatedCredentials();
  const { installation_id = installationId, app_id = appId, private_key = privateKey } = over;
  const connected = await harness.connect({
    credentials: seal({ app_id, private_key }),
    settings: { app_name: 'deploy', installation_id },
  });
  closing.push(() => connected.close());
  return connected;
}

const newRequest = (harness: CodehostHarness) => putRequest(harness.freshName(), 'one');
const tokenCalls = (harness: CodehostHarness) =>
  harness.calls().filter((call) => call === 'createInstallationAccessToken').length;

describe('codehost 10: an application', () => {
  test('requests one token for many calls at the same time', async () => {
    const harness = await started();
    const connected = await asApplication(harness);
    const requests = [1, 2, 3].map(() => newRequest(harness));
    await Promise.all(requests.map((request) => connected.put(request, signal())));
    for (const { externalName } of requests) expect(harness.held(externalName)?.value).toBe('one');
    expect(tokenCalls(harness)).toBe(1);
  });

  test('renews its token before it expires', async () => {
    const harness = await started({ tokenSeconds: 59 });
    const connected = await asApplication(harness);
    const request = newRequest(harness);
    const { remote } = await connected.put(request, signal());
    harness.calls();
    await connected.put({ ...request, ...newValue(request, 'two'), remote }, signal());
    expect(harness.calls()).toEqual([
      'createInstallationAccessToken', // to see that the repository and the secret are still the same ones
      'getRepoSecret',
      'createInstallationAccessToken',
      'createOrUpdateRepoSecret',
    ]);
  });

  test('common: a token that is refused is replaced once', async () => {
    const harness = await started();
    const connected = await asApplication(harness);
    const request = newRequest(harness);
    const { remote } = await connected.put(request, signal());
    harness.sandbox.codehost.revokeTokens();
    harness.calls();
    const next = { ...request, ...newValue(request, 'two'), remote };
    await connected.put(next, signal());
    expect(harness.calls().filter((call) => call !== 'getRepoSecret')).toEqual([
      'createInstallationAccessToken',
      'createOrUpdateRepoSecret',
    ]);
    harness.sandbox.codehost.faults.add({
      ...{ effect: 'error', operation: 'createOrUpdateRepoSecret', status: 401, code: 'X' },
    });
    await expect(connected.put(next, signal())).rejects.toMatchObject({ kind: 'unauthenticated' });
    expect(tokenCalls(harness)).toBe(1);
  });

  test('has a key in the format PKCS#1 or PKCS#8', async () => {
    const harness = await started();
    const { privateKey: pkcs1 } = harness.sandbox.codehost.generatedCredentials();
    const pkcs8 = String(createPrivateKey(pkcs1).export({ type: 'pkcs8', format: 'pem' }));
    expect([pkcs1, pkcs8].map((pem) => pem.split('\n')[0])).toEqual([
      '-----BEGIN RSA PRIVATE KEY-----',
      '-----BEGIN PRIVATE KEY-----',
    ]);
    for (const private_key of [pkcs1, pkcs8]) {
      const connected = await asApplication(harness, { private_key });
      await connected.put(newRequest(harness), signal());
    }
  });

  test('whose installation is suspended is unauthenticated, before and after a token was issued', async () => {
    const harness = await started();
    const connected = await asApplication(harness);
    harness.sandbox.codehost.suspend(true);
    const request = newRequest(harness);
    const refused = () => expect(connected.put(request, signal())).rejects;
    await refused().toMatchObject({
      kind: 'unauthenticated',
      message: expect.stringMatching(
        /^createInstallationAccessToken: the installation is suspended .*; unsuspend/,
      ),
    });
    harness.sandbox.codehost.suspend(false);
    const { remote } = await connected.put(request, signal());
    harness.sandbox.codehost.suspend(true);
    const next = { ...request, ...newValue(request, 'two'), remote };
    await expect(connected.put(next, signal())).rejects.toMatchObject({
      kind: 'unauthenticated',
      message: expect.stringMatching(/: the installation is suspended .*; unsuspend/),
    });
  });

  test('that is not installed, or was removed, is unauthenticated', async () => {
    const harness = await started();
    const connected = await asApplication(harness, { installation_id: '12' });
    await expect(connected.put(newRequest(harness), signal())).rejects.toMatchObject({
      kind: 'unauthenticated',
      message: expect.stringContaining('the application "deploy" has no installation 12; it was removed'),
    });
  });

  test('with a wrong ID is unauthenticated', async () => {
    const harness = await started();
    const connected = await asApplication(harness, { app_id: '1' });
    await expect(connected.put(newRequest(harness), signal())).rejects.toMatchObject({
      kind: 'unauthenticated',
      message: expect.stringContaining('the ID or the private key of the application "deploy"'),
    });
  });

  test('with a key that cannot be read is rejected, without its content', async () => {
    const harness = await started();
    await expect(asApplication(harness, { private_key: 'canary' })).rejects.toMatchObject({
      kind: 'rejected',
      message: 'the private key of the application "deploy" cannot be read',
    });
  });

  test('that waits for a silent server ends when the signal aborts', async () => {
    const harness = await started();
    const connected = await asApplication(harness);
    harness.sandbox.codehost.faults.add({ effect: 'silence', operation: 'createInstallationAccessToken' });
    await expect(connected.put(newRequest(harness), AbortSignal.timeout(100))).rejects.toMatchObject({
      kind: 'unavailable',
    });
  });

  test('whose token cannot be issued for the moment is tried again with the next call', async () => {
    const harness = await started();
    const connected = await asApplication(harness);
    const request = newRequest(harness);
    for (const [effect, kind] of [
      ['throttle', 'throttled'],
      ['server-error', 'unavailable'],
      ['garbage', 'unavailable'],
      ['many-headers', 'unavailable'],
      ['empty', 'unavailable'],
      ['cut-off', 'unavailable'],
      ['huge', 'unavailable'],
      ['redirect', 'unavailable'],
      ['deep', 'unavailable'],
    ] as const) {
      harness.sandbox.codehost.faults.add({ effect, operation: 'createInstallationAccessToken' });
      await expect(connected.put(request, signal())).rejects.toMatchObject({
        kind,
        message: expect.stringMatching(kind === 'unavailable' ? ownWords : ''),
      });
      harness.clear();
    }
    await connected.put(request, signal());
  });
});

test('common: destinations with the same installation but other keys share no token', async () => {
  const harness = await started();
  const own = await asApplication(harness);
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const stranger = await asApplication(harness, {
    private_key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
  });
  const [first, second] = await Promise.allSettled(
    [own, stranger].map((connected) => connected.put(newRequest(harness), signal())),
  );
  expect([first?.status, second?.status]).toEqual(['fulfilled', 'rejected']);
});

test('codehost 11: an application that does not exist is rejected, and the message names it', async () => {
  const harness = await started();
  const connecting = harness.connect({
    credentials: seal({}),
    settings: { app_name: 'deploy', installation_id: '1' },
  });
  await expect(connecting).rejects.toMatchObject({
    kind: 'rejected',
    message: 'app_name: the application "deploy" does not exist in this namespace',
  });
});
