import { ClientAssertionCredential } from '@azure/identity';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { type Sandbox, startSandbox } from '../../src/sandbox.ts';
import { startTestIssuer, type TestIssuer } from '../../src/testing.ts';
import {
  applicationCredential,
  credentialOptions,
  resourceClients,
} from '../stores/cloudb/provider-clients.ts';

const scope = 'https://management.azure.com/.default';
const subject = 'plugin-identity:root:auth:auth_cloudB_1f2e3d4c';
const audience = 'api://AzureADTokenExchange';

let sandbox: Sandbox;
let issuer: TestIssuer;

beforeAll(async () => {
  issuer = await startTestIssuer();
  sandbox = await startSandbox();
});
afterAll(async () => {
  await sandbox.stop();
  await issuer.stop();
});
beforeEach(() => sandbox.reset());

test('the application gets tokens for its password', async () => {
  const { token } = (await applicationCredential(sandbox).getToken(scope))!;
  const { clientId: appid, oid } = sandbox.directory.application;
  expect(decodeJwt(token)).toMatchObject({ aud: 'https://management.azure.com', appid, oid, appidacr: '1' });
});

test.each([
  ['wrong', /AADSTS7000215/],
  ['', /AADSTS7000218|clientSecret/],
])('the application gets no token for the password %p', async (secret, reason) => {
  await expect(async () => applicationCredential(sandbox, secret).getToken(scope)).rejects.toThrow(reason);
});

describe('a client assertion of a login mount', () => {
  const assertionCredential = (assertion: () => Promise<string>) => {
    const { clientId } = sandbox.directory.application;
    return new ClientAssertionCredential(sandbox.tenantId, clientId, assertion, credentialOptions(sandbox));
  };
  const trust = (over: object = {}) =>
    sandbox.federation.add({ store: 'cloudB', issuer: issuer.url, subject, audience, ...over });
  beforeEach(() => {
    for (const { id } of sandbox.federation.list()) sandbox.federation.remove(id);
  });

  test('is exchanged for a token, with which the resource API can be read', async () => {
    trust();
    const credential = assertionCredential(() => issuer.issue({ sub: subject, aud: audience }));
    const { token } = await credential.getToken(scope);
    expect(decodeJwt(token)).toMatchObject({ appid: sandbox.directory.application.clientId, appidacr: '2' });
    const { compute } = resourceClients(sandbox, { credential });
    expect((await compute.virtualMachines.get('sandbox', 'web-1')).name).toBe('web-1');
  });

  test.each([
    ['no federated credential', undefined, 'AADSTS700211'],
    ['another issuer', { issuer: 'https://other.example.com' }, 'AADSTS700211'],
    ['the subject of another mount', { subject: `${subject}0` }, 'AADSTS700213'],
    ['the subject of another namespace', { subject: subject.replace('root', 'team') }, 'AADSTS700213'],
    ['another audience', { audience: 'other' }, 'AADSTS700212'],
  ])('is refused if the application has %s', async (_, credential, code) => {
    if (credential) trust(credential);
    const refused = assertionCredential(() => issuer.issue({ sub: subject, aud: audience })).getToken(scope);
    await expect(refused).rejects.toThrow(code);
  });
});
