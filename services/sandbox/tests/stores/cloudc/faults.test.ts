import { expect, test } from '@jest/globals';
import { errorWith, useCloudC } from './cloudc-harness.ts';

const cloudC = useCloudC();
const faults = () => cloudC.sandbox().cloudC.faults;

test('throttle: RESOURCE_EXHAUSTED, with how long to wait in the details', async () => {
  faults().add({ effect: 'throttle', operation: 'GetSecret', retryAfterSeconds: 7 });
  await expect(cloudC.get('x')).rejects.toMatchObject({
    code: 8,
    reason: 'RATE_LIMIT_EXCEEDED',
    statusDetails: expect.arrayContaining([expect.objectContaining({ retryDelay: expect.anything() })]),
  });
});

test('error: the specified status', async () => {
  faults().add({ effect: 'error', code: 'PERMISSION_DENIED', status: 403 });
  await expect(cloudC.get('x')).rejects.toEqual(errorWith('PERMISSION_DENIED'));
});

test('server-error and refuse-signature: INTERNAL and UNAUTHENTICATED', async () => {
  faults().add({ effect: 'server-error', times: 1 });
  await expect(cloudC.get('x')).rejects.toEqual(errorWith('INTERNAL'));
  faults().add({ effect: 'refuse-signature', times: 1 });
  await expect(cloudC.get('x')).rejects.toEqual(errorWith('UNAUTHENTICATED'));
});

test('faults match by operation and by name, and calls are logged without values', async () => {
  faults().add({ effect: 'server-error', operation: 'AddSecretVersion', name: 'a*' });
  await cloudC.create('abc');
  await cloudC.create('xyz');
  await expect(cloudC.add('abc', 'canary-1')).rejects.toEqual(errorWith('INTERNAL'));
  await cloudC.add('xyz', 'canary-2');
  const calls = cloudC.sandbox().cloudC.calls();
  expect(calls.map(({ operation, name, outcome }) => [operation, name, outcome])).toEqual([
    ['CreateSecret', 'abc', 200],
    ['CreateSecret', 'xyz', 200],
    ['AddSecretVersion', 'abc', 500],
    ['AddSecretVersion', 'xyz', 200],
  ]);
  expect(JSON.stringify(calls)).not.toContain('canary');
});
