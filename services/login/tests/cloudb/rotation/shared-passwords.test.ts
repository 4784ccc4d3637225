import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { EnvironmentCredentials } from '../../../src/auth-methods/cloudb/provider/credentials/credential-source.ts';
import { rotateNow } from '../../../src/auth-methods/cloudb/rotation/run-rotation.ts';
import { audience } from '../../login-for-test.ts';
import { quickly, type RotationForTest, startRotationForTest } from './rotation-for-test.ts';

const added = expect.stringMatching(/^secrets-service rotation /);
const mayBeUsed = expect.stringMatching(/still exists, because .* uses the same application/);
let cloud: RotationForTest;

beforeAll(async () => {
  cloud = await startRotationForTest();
  await cloud.service.call('POST', '/sys/auth/second', { type: 'cloudB' });
});
beforeEach(async () => {
  await cloud.beginAgain();
  await cloud.service.call('DELETE', '/auth/second/config');
});
afterAll(() => cloud.stop());

const configureSecond = (over: object = {}) => {
  const { tenantId, directory } = cloud.sandbox;
  const { clientId, clientSecret } = directory.application;
  const body = { tenant_id: tenantId, resource: audience, client_id: clientId, client_secret: clientSecret };
  return cloud.service.call('POST', '/auth/second/config', { ...body, ...over });
};
const rotate = async (mount: string) => {
  const { status, body } = await cloud.service.call('POST', `/auth/${mount}/rotate-root`);
  return [status, body?.warnings];
};
const rotateWith = async (environment: EnvironmentCredentials): Promise<string[]> => {
  const warnings: string[] = [];
  const context = cloud.contextOf(undefined, environment);
  await rotateNow(context, cloud.mount, (sentence) => warnings.push(sentence), quickly);
  return warnings;
};
const credentialsStep = async (mount: string) => {
  const { body } = await cloud.service.call('POST', `/auth/${mount}/config/check`);
  return body.data.steps.find(({ step }: { step: string }) => step === 'the credentials work').result;
};

test('an entered password remains while it may be that of another auth mount', async () => {
  await configureSecond({ client_id: cloud.sandbox.directory.application.clientId.toUpperCase() });
  expect(await rotate('cloudB')).toEqual([200, [mayBeUsed]]);
  expect([await credentialsStep('cloudB'), await credentialsStep('second')]).toEqual(['ok', 'ok']);
  expect(cloud.ownPasswords()).toEqual(['sandbox', added]);
});

test('the last auth mount that uses an entered password removes it', async () => {
  await configureSecond();
  await rotate('cloudB');
  expect(await rotate('second')).toEqual([204, undefined]);
  expect([await credentialsStep('cloudB'), await credentialsStep('second')]).toEqual(['ok', 'ok']);
  expect(cloud.ownPasswords()).toEqual([added, added]);
});

test('a password that a rotation added is removed by the next one, whoever else uses the application', async () => {
  await rotate('cloudB');
  await configureSecond({ client_secret: 'of the operator' });
  expect(await rotate('cloudB')).toEqual([204, undefined]);
  expect(cloud.ownPasswords()).toEqual([added]);
});

test('auth mounts of other applications, or without a secret, do not matter', async () => {
  await configureSecond({ client_id: 'another' });
  expect(await rotate('cloudB')).toEqual([204, undefined]);
  await cloud.beginAgain();
  await configureSecond({ client_secret: '' });
  expect(await rotate('cloudB')).toEqual([204, undefined]);
  expect(cloud.ownPasswords()).toEqual([added]);
});

test.each([
  ['names the application', (clientId: string) => ({ clientId })],
  ['names no application', () => ({})],
])('an entered password remains if the environment has a secret and %s', async (_title, environmentOf) => {
  const { clientId } = cloud.sandbox.directory.application;
  expect(await rotateWith({ ...environmentOf(clientId), clientSecret: 'any' })).toEqual([mayBeUsed]);
  expect(cloud.ownPasswords()).toEqual(['sandbox', added]);
});

test('an entered password is removed if the environment has no secret, or that of another application', async () => {
  expect(await rotateWith({ clientId: cloud.sandbox.directory.application.clientId })).toEqual([]);
  await cloud.beginAgain();
  expect(await rotateWith({ clientId: 'another', clientSecret: 'any' })).toEqual([]);
  expect(cloud.ownPasswords()).toEqual([added]);
});
