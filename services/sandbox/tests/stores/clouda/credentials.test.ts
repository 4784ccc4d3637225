import {
  CreateSecretCommand,
  GetSecretValueCommand,
  ListSecretsCommand,
} from '@aws-sdk/client-secrets-manager';
import { AssumeRoleCommand, GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Sandbox, startSandbox } from '../../../src/sandbox.ts';
import { cloudAClient, errorNamed } from './clouda-harness.ts';

const GUARDED_ROLE = 'arn:aws:iam::210987654321:role/team/sync';
const unknownKey = { accessKeyId: 'AKIAUNKNOWN', secretAccessKey: 'x' };

let sandbox: Sandbox;
let offsetMs = 0;

beforeAll(async () => {
  sandbox = await startSandbox({
    clock: () => Date.now() + offsetMs,
    cloudA: { roles: [{ arn: GUARDED_ROLE, externalId: 'agreed' }] },
  });
});
afterAll(() => sandbox.stop());
beforeEach(() => {
  offsetMs = 0;
  sandbox.reset();
});

interface Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

function stsClient({
  of = sandbox,
  credentials = of.credentials.cloudA,
}: {
  of?: Sandbox;
  credentials?: Credentials;
} = {}) {
  return new STSClient({ endpoint: of.cloudAUrl, region: 'eu-west-1', credentials, maxAttempts: 1 });
}

function listWith(credentials: Credentials) {
  return cloudAClient(sandbox, { credentials }).send(new ListSecretsCommand({}));
}

async function assume(RoleArn: string, input = {}) {
  const command = new AssumeRoleCommand({ RoleArn, RoleSessionName: 'test', ...input });
  const { Credentials: session } = await stsClient().send(command);
  return {
    credentials: {
      accessKeyId: session!.AccessKeyId!,
      secretAccessKey: session!.SecretAccessKey!,
      sessionToken: session!.SessionToken!,
    },
    expiresAt: session!.Expiration!,
  };
}

describe('signatures', () => {
  test('an unknown access key is rejected', async () => {
    await expect(listWith(unknownKey)).rejects.toEqual(errorNamed('UnrecognizedClientException'));
  });

  test('a signature made with the wrong secret is rejected', async () => {
    const credentials = { ...sandbox.credentials.cloudA, secretAccessKey: 'wrong' };
    await expect(listWith(credentials)).rejects.toMatchObject({
      name: 'InvalidSignatureException',
      $metadata: { httpStatusCode: 400, requestId: expect.any(String) },
    });
  });

  test.each([
    ['body', { body: '{"SecretId":"other"}' }],
    ['target header', { 'x-amz-target': 'secretsmanager.DeleteSecret' }],
    ['path', { path: '/clouda/elsewhere' }],
  ])('a request whose %s changed after signing is rejected', async (_, change) => {
    const client = cloudAClient(sandbox);
    client.middlewareStack.add((next) => async (args) => next(tampered(args, change)), {
      step: 'finalizeRequest',
      priority: 'low',
      name: 'tamper',
    });
    const call = client.send(new GetSecretValueCommand({ SecretId: 'mine' }));
    await expect(call).rejects.toEqual(errorNamed('InvalidSignatureException'));
  });

  test('a signature older than five minutes is rejected', async () => {
    const late = cloudAClient(sandbox, { systemClockOffset: -600_000 });
    const call = late.send(new ListSecretsCommand({}));
    await expect(call).rejects.toEqual(errorNamed('InvalidSignatureException'));
  });

  test('a request without a signature is rejected', async () => {
    const response = await fetch(`${sandbox.cloudAUrl}/`, {
      method: 'POST',
      headers: { 'x-amz-target': 'secretsmanager.ListSecrets' },
      body: '{}',
    });
    expect(await response.json()).toMatchObject({ __type: 'MissingAuthenticationTokenException' });
  });

  test('the token service reports the same errors with its own codes', async () => {
    const identify = (credentials: Credentials) =>
      stsClient({ credentials }).send(new GetCallerIdentityCommand({}));
    await expect(identify(unknownKey)).rejects.toEqual(errorNamed('InvalidClientTokenId'));
    const wrongSecret = { ...sandbox.credentials.cloudA, secretAccessKey: 'wrong' };
    await expect(identify(wrongSecret)).rejects.toEqual(errorNamed('SignatureDoesNotMatch'));
    await expect(identify(sandbox.credentials.cloudA)).resolves.toMatchObject({ Account: '123456789012' });
  });
});

describe('assumed roles', () => {
  test.each([
    ['an unknown role', 'arn:aws:iam::210987654321:role/none', {}],
    ['a role without its external ID', GUARDED_ROLE, {}],
    ['a role with the wrong external ID', GUARDED_ROLE, { ExternalId: 'guessed' }],
  ])('%s cannot be assumed', async (_, role, input) => {
    await expect(assume(role, input)).rejects.toEqual(errorNamed('AccessDenied'));
  });

  test("a session works in its role's account only", async () => {
    const { credentials } = await assume(GUARDED_ROLE, { ExternalId: 'agreed' });
    const client = cloudAClient(sandbox, { credentials });
    const { ARN } = await client.send(new CreateSecretCommand({ Name: 'theirs', SecretString: 'x' }));
    expect(ARN).toContain(':210987654321:');
    expect((await listWith(sandbox.credentials.cloudA)).SecretList).toEqual([]);
  });

  test('a session key is rejected without its token, or with a modified one', async () => {
    const { credentials } = await assume(sandbox.credentials.cloudA.roleArn);
    const { sessionToken, ...withoutToken } = credentials;
    await expect(listWith(withoutToken)).rejects.toEqual(errorNamed('UnrecognizedClientException'));
    const modified = { ...credentials, sessionToken: `x${sessionToken}` };
    await expect(listWith(modified)).rejects.toEqual(errorNamed('UnrecognizedClientException'));
  });

  test('a session expires after the requested time', async () => {
    const { roleArn } = sandbox.credentials.cloudA;
    const { credentials, expiresAt } = await assume(roleArn, { DurationSeconds: 900 });
    expect(expiresAt.getTime() - Date.now()).toBeGreaterThan(890_000);
    await listWith(credentials);
    offsetMs = 901_000;
    await expect(listWith(credentials)).rejects.toEqual(errorNamed('ExpiredTokenException'));
  });

  test('the sessionSeconds option overrides the requested time', async () => {
    const nowMs = Date.parse('2030-01-01T00:00:00Z');
    const brief = await startSandbox({ clock: () => nowMs, cloudA: { sessionSeconds: 2 } });
    const { roleArn } = brief.credentials.cloudA;
    const command = new AssumeRoleCommand({ RoleArn: roleArn, RoleSessionName: 'test' });
    const client = stsClient({ of: brief });
    expect((await client.send(command)).Credentials?.Expiration).toEqual(new Date(nowMs + 2_000));
    client.destroy();
    await brief.stop();
  });
});

function tampered<Args extends object>(args: Args, change: Record<string, string>): Args {
  const { request } = args as unknown as { request: { headers: Record<string, string> } };
  const { body, path, ...headers } = change;
  const replaced = { ...(body && { body }), ...(path && { path }) };
  const length = body === undefined ? {} : { 'content-length': String(body.length) };
  Object.assign(request, replaced, { headers: { ...request.headers, ...length, ...headers } });
  return args;
}
