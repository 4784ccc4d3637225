import { describe, expect, test } from '@jest/globals';
import type { FaultKind } from '@secrets/domain';
import { putRequest } from '@secrets/sync-worker/testing';
import { startHarness } from './sandbox-harness.ts';
import { useDriver } from './use-driver.ts';

const driver = useDriver();
const { put, putNew, remove } = driver;
const aPut = () => putRequest(driver.harness.freshName(), 'one');

describe('cloudC-sm 7: faults', () => {
  test.each<[string, number, FaultKind]>([
    ['RESOURCE_EXHAUSTED', 429, 'throttled'],
    ['UNAVAILABLE', 503, 'unavailable'],
    ['DEADLINE_EXCEEDED', 504, 'unavailable'],
    ['ABORTED', 409, 'unavailable'],
    ['INTERNAL', 500, 'unavailable'],
    ['UNKNOWN', 500, 'unavailable'],
    ['PERMISSION_DENIED', 403, 'forbidden'],
    ['UNAUTHENTICATED', 401, 'unauthenticated'],
    ['INVALID_ARGUMENT', 400, 'rejected'],
    ['FAILED_PRECONDITION', 400, 'rejected'],
    ['SOMETHING_NEW', 400, 'rejected'],
    ['SOMETHING_NEW', 502, 'unavailable'],
  ])(
    '%s with status %i is %s, and the message has the code and nothing of the provider',
    async (code, status, kind) => {
      driver.harness.sandbox.cloudC.faults.add({ effect: 'error', code, status, message: 'canary' });
      const failed = put(aPut());
      await expect(failed).rejects.toMatchObject({
        kind,
        message: expect.stringMatching(new RegExp(`^CreateSecret: .*\\(${code}\\)`)),
      });
      await expect(failed).rejects.not.toMatchObject({ message: expect.stringContaining('canary') });
    },
  );

  test.each([
    [
      'FAILED_PRECONDITION',
      "Constraint 'constraints/gcp.resourceLocations' violated for projects/canary.",
      /an organization policy restricts the locations .*; set replication_locations/,
    ],
    [
      'FAILED_PRECONDITION',
      "Constraint 'constraints/gcp.restrictNonCmekServices' violated for projects/canary.",
      /an organization policy restricts the encryption keys .*; set global_kms_key/,
    ],
    ['FAILED_PRECONDITION', 'Operation denied by organization policy canary', /organization policy does not/],
    [
      'PERMISSION_DENIED',
      'Permission denied on Cloud KMS key canary',
      /the encryption key .* may not be used .*roles\/cloudkms/,
    ],
    ['NOT_FOUND', 'CryptoKey projects/canary/cryptoKeys/x not found.', /the encryption key does not exist/],
    ['INVALID_ARGUMENT', 'Invalid location: canary', /a location does not exist/],
  ])('%s that says %j is tried again, with our words: %s', async (code, message, reason) => {
    driver.harness.sandbox.cloudC.faults.add({ effect: 'error', code, status: 400, message });
    const failed = put(aPut());
    await expect(failed).rejects.toMatchObject({
      kind: 'rejected',
      mayPass: true,
      message: expect.stringMatching(reason),
    });
    await expect(failed).rejects.not.toMatchObject({ message: expect.stringContaining('canary') });
  });

  test.each(['AccessSecretVersion', 'GetSecret', 'AddSecretVersion', 'DeleteSecret'])(
    'the SDK does not retry %s',
    async (operation) => {
      const { name, remote, next } = await putNew();
      driver.failWith(operation, 'UNAVAILABLE', 503);
      driver.harness.calls();
      const act = operation === 'DeleteSecret' ? () => remove(name, remote) : () => put(next('two'));
      await expect(act()).rejects.toMatchObject({ kind: 'unavailable' });
      expect(driver.harness.calls().filter((call) => call === operation)).toHaveLength(1);
    },
  );

  test('NOT_FOUND on remove is success, also if the secret disappears in between', async () => {
    const { name, remote } = await putNew();
    driver.failWith('DeleteSecret', 'NOT_FOUND', 404);
    await remove(name, remote);
    driver.harness.clear();
    await remove(name, remote);
    await remove(name, remote);
  });

  test('NOT_FOUND for the project is rejected, and the message says so', async () => {
    const nowhere = driver.keep(await driver.harness.connect({ settings: { project_id: 'no-project' } }));
    await expect(put(aPut(), nowhere)).rejects.toMatchObject({
      kind: 'rejected',
      message: 'CreateSecret: the project or the secret was not found (NOT_FOUND); check project_id',
    });
  });

  test('PERMISSION_DENIED keeps the reason: the API is not enabled in the project', async () => {
    const own = await startHarness({ disabledProjects: ['no-api-project'] });
    const connected = await own.connect({ settings: { project_id: 'no-api-project' } });
    await expect(connected.put(aPut(), AbortSignal.timeout(60_000))).rejects.toMatchObject({
      kind: 'forbidden',
      message:
        'CreateSecret: permission denied: the API is not enabled in the project (PERMISSION_DENIED: SERVICE_DISABLED); enable secretmanager.googleapis.com in it',
    });
    await connected.close();
    await own.stop();
  });

  test('a secret that is written more often than twice per second is throttled, and the value follows later', async () => {
    const startMs = Date.now();
    let ahead = 0;
    const own = await startHarness({ enforceQuotas: true }, { clock: () => startMs + ahead });
    const connected = await own.connect();
    const write = (value: string) => connected.put(putRequest('quick', value), AbortSignal.timeout(60_000));
    await write('one');
    await write('two');
    await expect(write('three')).rejects.toMatchObject({
      kind: 'throttled',
      message:
        'AddSecretVersion: too many requests, or a quota is used up (RESOURCE_EXHAUSTED: RATE_LIMIT_EXCEEDED)',
    });
    ahead = 1_000;
    await write('three');
    expect(own.held('quick')?.value).toBe('three');
    await connected.close();
    await own.stop();
  });

  test('a secret that is deleted before its labels are set is not ready', async () => {
    const { unchanged } = await putNew();
    const tagged = await driver.connect({ custom_tags: { team: 'a' } });
    driver.failWith('UpdateSecret', 'NOT_FOUND', 404);
    await expect(put(unchanged, tagged)).rejects.toMatchObject({
      kind: 'not_ready',
      message: expect.stringContaining('was changed by somebody else at the same time'),
    });
  });

  test('a secret that is deleted during a put is not ready', async () => {
    const { next } = await putNew();
    driver.failWith('AddSecretVersion', 'NOT_FOUND', 404);
    await expect(put(next('two'))).rejects.toMatchObject({ kind: 'not_ready' });
  });
});

test('common: the value appears in no log of the SDK, even if that is enabled', async () => {
  process.env.GOOGLE_SDK_NODE_LOGGING = 'all';
  const written: string[] = [];
  const original = process.stderr.write;
  process.stderr.write = (chunk) => written.push(String(chunk)) > 0;
  try {
    await putNew(undefined, 'canary');
  } finally {
    process.stderr.write = original;
    delete process.env.GOOGLE_SDK_NODE_LOGGING;
  }
  expect(written.join('')).not.toMatch(/canary|Y2FuYXJ5|addSecretVersion/);
});
