import {
  CreateSecretCommand,
  GetSecretValueCommand,
  ListSecretsCommand,
} from '@aws-sdk/client-secrets-manager';
import { AssumeRoleCommand, GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Sandbox, startSandbox } from '../../src/sandbox.ts';
import { clientOf } from './clouda-client.ts';

const GUARDED = 'arn:aws:iam::210987654321:role/team/sync';

let sandbox: Sandbox;
let aheadMs = 0;

beforeAll(async () => {
  sandbox = await startSandbox({
    clock: () => Date.now() + aheadMs,
    cloudA: { roles: [{ arn: GUARDED, externalId: 'agreed' }] },
  });
});
afterAll(() => sandbox.stop());
beforeEach(() => {
  aheadMs = 0;
  sandbox.reset();
});

const refused = (name: string) => expect.objectContaining({ name });

function sts(credentials: { accessKeyId: string; secretAccessKey: string } = sandbox.credentials.cloudA) {
  return new STSClient({ endpoint: sandbox.cloudAUrl, region: 'eu-west-1', credentials, maxAttempts: 1 });
}

function listWith(credentials: { accessKeyId: string; secretAccessKey: string; sessionToken?: string }) {
  return clientOf(sandbox, { credentials }).send(new ListSecretsCommand({}));
}

async function assume(RoleArn: string, more = {}) {
  const answer = await sts().send(new AssumeRoleCommand({ RoleArn, RoleSessionName: 'test', ...more }));
  const { AccessKeyId = '', SecretAccessKey = '', SessionToken = '', Expiration } = answer.Credentials ?? {};
  return {
    credentials: { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: SessionToken },
    endsAt: Expiration,
  };
}

describe('signatures', () => {
  test('an unknown key', async () => {
    const credentials = { accessKeyId: 'AKIAUNKNOWN', secretAccessKey: 'x' };
    await expect(listWith(credentials)).rejects.toEqual(refused('UnrecognizedClientException'));
  });

  test('a wrong secret', async () => {
    const credentials = { ...sandbox.credentials.cloudA, secretAccessKey: 'wrong' };
    const failure = await listWith(credentials).catch((error) => error);
    expect(failure).toEqual(refused('InvalidSignatureException'));
    expect(failure.$metadata).toMatchObject({ httpStatusCode: 400, requestId: expect.any(String) });
  });

  test('a body, a header or a path that was changed after signing', async () => {
    for (const change of [
      { body: '{"SecretId":"other"}' },
      { 'x-amz-target': 'secretsmanager.DeleteSecret' },
      { path: '/clouda/elsewhere' },
    ]) {
      const client = clientOf(sandbox);
      client.middlewareStack.add((next) => async (args) => next(tampered(args, change)), {
        step: 'finalizeRequest',
        priority: 'low',
        name: 'tamper',
      });
      const call = client.send(new GetSecretValueCommand({ SecretId: 'mine' }));
      await expect(call).rejects.toEqual(refused('InvalidSignatureException'));
    }
  });

  test('an old signature, and none at all', async () => {
    const late = clientOf(sandbox, { systemClockOffset: -600_000 });
    await expect(late.send(new ListSecretsCommand({}))).rejects.toEqual(refused('InvalidSignatureException'));
    const answer = await fetch(`${sandbox.cloudAUrl}/`, {
      method: 'POST',
      headers: { 'x-amz-target': 'secretsmanager.ListSecrets' },
      body: '{}',
    });
    expect(await answer.json()).toMatchObject({ __type: 'MissingAuthenticationTokenException' });
  });

  test('the token service has its own codes', async () => {
    const call = (credentials: { accessKeyId: string; secretAccessKey: string }) =>
      sts(credentials).send(new GetCallerIdentityCommand({}));
    const unknown = { accessKeyId: 'AKIAUNKNOWN', secretAccessKey: 'x' };
    await expect(call(unknown)).rejects.toEqual(refused('InvalidClientTokenId'));
    const wrong = { ...sandbox.credentials.cloudA, secretAccessKey: 'wrong' };
    await expect(call(wrong)).rejects.toEqual(refused('SignatureDoesNotMatch'));
    await expect(call(sandbox.credentials.cloudA)).resolves.toMatchObject({ Account: '123456789012' });
  });
});

describe('assumed roles', () => {
  test('a role that is not there, or the wrong external id', async () => {
    for (const attempt of [
      assume('arn:aws:iam::210987654321:role/none'),
      assume(GUARDED),
      assume(GUARDED, { ExternalId: 'guessed' }),
    ]) {
      await expect(attempt).rejects.toEqual(refused('AccessDenied'));
    }
  });

  test('a session works in the account of its role', async () => {
    const { credentials } = await assume(GUARDED, { ExternalId: 'agreed' });
    const client = clientOf(sandbox, { credentials });
    const { ARN } = await client.send(new CreateSecretCommand({ Name: 'theirs', SecretString: 'x' }));
    expect(ARN).toContain(':210987654321:');
    expect((await listWith(sandbox.credentials.cloudA)).SecretList).toEqual([]);
  });

  test('a session without its token, or with a changed one, is unknown', async () => {
    const { credentials } = await assume(sandbox.credentials.cloudA.roleArn);
    const { sessionToken, ...bare } = credentials;
    await expect(listWith(bare)).rejects.toEqual(refused('UnrecognizedClientException'));
    const changed = { ...credentials, sessionToken: `x${sessionToken}` };
    await expect(listWith(changed)).rejects.toEqual(refused('UnrecognizedClientException'));
  });

  test('a session ends when it said it would', async () => {
    const { credentials, endsAt } = await assume(sandbox.credentials.cloudA.roleArn, {
      DurationSeconds: 900,
    });
    expect((endsAt?.getTime() ?? 0) - Date.now()).toBeGreaterThan(890_000);
    await listWith(credentials);
    aheadMs = 901_000;
    await expect(listWith(credentials)).rejects.toEqual(refused('ExpiredTokenException'));
  });

  test('sessions are as long as the sandbox is told', async () => {
    const brief = await startSandbox({ cloudA: { sessionSeconds: 2 } });
    const client = new STSClient({
      endpoint: brief.cloudAUrl,
      region: 'eu-west-1',
      credentials: brief.credentials.cloudA,
    });
    const { roleArn } = brief.credentials.cloudA;
    const answer = await client.send(new AssumeRoleCommand({ RoleArn: roleArn, RoleSessionName: 'test' }));
    expect((answer.Credentials?.Expiration?.getTime() ?? 0) - Date.now()).toBeLessThanOrEqual(2000);
    client.destroy();
    await brief.stop();
  });
});

function tampered<Args extends object>(args: Args, change: { body?: string; path?: string }): Args {
  const { request } = args as unknown as { request: { headers: Record<string, string> } };
  const { body, path, ...headers } = change;
  const replaced = { ...(body && { body }), ...(path && { path }) };
  const length = body === undefined ? {} : { 'content-length': String(body.length) };
  Object.assign(request, replaced, { headers: { ...request.headers, ...length, ...headers } });
  return args;
}
