import { describe, expect, test } from '@jest/globals';
import { seal } from '@secrets/seal';
import { createEgressGuard } from '@secrets/sync-worker';
import { newValue, putRequest } from '@secrets/sync-worker/testing';
import { startHarness } from './sandbox-harness.ts';
import { useDriver } from './use-driver.ts';

const driver = useDriver();
const { connect, put, putNew } = driver;
const signal = () => AbortSignal.timeout(60_000);

describe('connecting', () => {
  test('a wrong key pair is unauthenticated', async () => {
    const wrong = await driver.harness.connect({
      credentials: seal({ access_key_id: 'AKIAWRONG', secret_access_key: 'canary' }),
    });
    driver.keep(wrong);
    await expect(put(putRequest(driver.harness.freshName(), 'x'), wrong)).rejects.toMatchObject({
      kind: 'unauthenticated',
    });
  });

  test('cloudA-sm 11: a destination without a region is rejected', async () => {
    await expect(driver.harness.connect({ settings: { region: '' } })).rejects.toMatchObject({
      kind: 'rejected',
      message: expect.stringContaining('region'),
    });
  });

  test('the egress guard refuses a provider endpoint that resolves to a private address', async () => {
    const egress = createEgressGuard({ resolve: async () => ['169.254.169.254'] });
    const inward = await driver.harness.driverWith({ endpointUrl: undefined }, {}, egress);
    driver.keep(inward);
    await expect(put(putRequest(driver.harness.freshName(), 'x'), inward)).rejects.toMatchObject({
      kind: 'forbidden',
      message: expect.stringMatching(/^connection to secretsmanager\.eu-central-1\.\S+ refused/),
    });
  });

  test('a destination without a region uses that of the environment', async () => {
    const connected = await driver.harness.driverWith(
      { defaultRegion: 'eu-north-1' },
      { settings: { region: '' } },
    );
    driver.keep(connected);
    const { name } = await putNew(connected);
    expect(driver.harness.held(name, 'eu-north-1')?.value).toBe('one');
  });

  test('a role is assumed once for many calls, and again after its session has expired', async () => {
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
    expect(own.calls()).toEqual(['DescribeSecret', 'AssumeRole', 'DescribeSecret', 'PutSecretValue']);
    expect(own.held(name)?.value).toBe('two');
    await connected.close();
    await own.stop();
  });

  test('a role that may not be assumed is forbidden, and the message names the step', async () => {
    const role_arn = 'arn:aws:iam::123456789012:role/other';
    const connected = await connect({ role_arn });
    await expect(put(putRequest(driver.harness.freshName(), 'x'), connected)).rejects.toMatchObject({
      kind: 'forbidden',
      message: expect.stringContaining('AssumeRole of role_arn: the role may not be assumed (AccessDenied)'),
    });
  });

  test('a call to a silent token service ends when the signal aborts', async () => {
    const connected = await connect({ role_arn: driver.harness.sandbox.credentials.cloudA.roleArn });
    driver.harness.sandbox.cloudA.faults.add({ effect: 'silence', operation: 'AssumeRole' });
    const request = putRequest(driver.harness.freshName(), 'x');
    await expect(connected.put(request, AbortSignal.timeout(100))).rejects.toMatchObject({
      kind: 'unavailable',
    });
  });
});
