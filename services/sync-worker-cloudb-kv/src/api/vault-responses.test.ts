import { createHttpHeaders, createPipelineRequest, type PipelineResponse } from '@azure/core-rest-pipeline';
import { describe, expect, test } from '@jest/globals';
import { ScopeMemory } from '@secrets/sync-worker';
import { withFaults } from './vault-responses.ts';

const audience = 'https://vault.azure.net';
type Method = NonNullable<Parameters<typeof createPipelineRequest>[0]['method']>;

const scopeOf = (id: string | null) => new ScopeMemory(id, async (seen) => seen);

/** Sends a request that has a token to a vault that gives this response. */
function send(
  {
    status = 200,
    body = {},
    headers = {},
  }: { status?: number; body?: unknown; headers?: Record<string, string> },
  {
    method = 'GET' as Method,
    path = 'secrets/a',
    token = true,
    expected = audience as string | null,
    remembered = null as string | null,
  } = {},
): Promise<PipelineResponse> {
  const request = createPipelineRequest({ url: `https://main.vault.azure.net/${path}`, method });
  if (token) request.headers.set('authorization', 'Bearer x');
  const bodyAsText = typeof body === 'string' ? body : JSON.stringify(body);
  const response = { request, status, bodyAsText, headers: createHttpHeaders(headers) };
  const vault = { sendRequest: async () => response };
  return withFaults(vault, expected ?? undefined, scopeOf(remembered)).sendRequest(request);
}

const error = (code: string, inner?: string, message = 'canary') => ({
  error: { code, message, ...(inner === undefined ? {} : { innererror: { code: inner } }) },
});

describe('a failed call', () => {
  test.each([
    [
      401,
      error('Unauthorized'),
      'unauthenticated',
      'Get: the credentials were not accepted (Unauthorized); check tenant_id, client_id and cloud',
    ],
    [
      403,
      error('Forbidden', 'ForbiddenByRbac'),
      'forbidden',
      'Get: permission denied: no role of the credentials includes this call (ForbiddenByRbac); assign a role such as Key Vault Secrets Officer, which takes effect within minutes',
    ],
    [
      403,
      error('Forbidden', 'AccessDenied'),
      'forbidden',
      'Get: permission denied: the access policy of the vault does not include this call (AccessDenied); add the permission for secrets to the access policy',
    ],
    [
      403,
      error('Forbidden', 'ForbiddenByGovernancePolicy', 'Secrets should have content type set: canary'),
      'rejected',
      'Get: a policy denies secrets without a content type (ForbiddenByGovernancePolicy); set content_type',
    ],
    [
      403,
      error('Forbidden', 'ForbiddenByGovernancePolicy'),
      'rejected',
      'Get: a policy of the subscription denies the secret (ForbiddenByGovernancePolicy); look for the policy at the vault, and exempt the vault or change the settings',
    ],
    [
      403,
      error(
        'Forbidden',
        undefined,
        'Client address (192.0.2.1) is not authorized and caller is not a trusted service',
      ),
      'forbidden',
      "Get: the vault's firewall refuses the address of the worker (Forbidden); permit the address, or the network of the worker",
    ],
    [
      400,
      error('BadParameter'),
      'rejected',
      'Get: the name, the value, a tag or a date breaks a rule of the vault (BadParameter); see the rules of the type',
    ],
    [
      404,
      error('SecretNotFound'),
      'rejected',
      'Get: the vault or the secret does not exist (SecretNotFound); check key_vault_uri',
    ],
    [409, error('Conflict'), 'not_ready', 'Get: another change of the secret is under way (Conflict)'],
    [
      409,
      error('Conflict', 'ObjectIsBeingDeleted'),
      'not_ready',
      'Get: the secret is being deleted, recovered or purged (ObjectIsBeingDeleted)',
    ],
    [429, error('Throttled'), 'throttled', 'Get: too many requests (Throttled)'],
    [
      500,
      error('InternalServerError'),
      'unavailable',
      'Get: the service is unavailable (InternalServerError)',
    ],
    [503, 'canary', 'unavailable', 'Get: the service is unavailable (status 503)'],
    [418, error('canary 1'), 'rejected', 'Get: the request was rejected (status 418)'],
    [302, '', 'unavailable', 'Get: the service responded with a redirect, which is not followed'],
    [200, '<html>canary', 'unavailable', 'Get: the response cannot be parsed'],
    [200, { value: 'canary' }, 'unavailable', 'Get: the response cannot be parsed'],
  ])('with status %i and body %j is %s', async (status, body, kind, message) => {
    await expect(send({ status, body })).rejects.toMatchObject({ kind, message });
  });

  test('cloudB-kv 9: refused by the firewall is forbidden, and the message says so', async () => {
    await expect(
      send({ status: 403, body: error('Forbidden', 'ForbiddenByFirewall') }),
    ).rejects.toMatchObject({
      kind: 'forbidden',
      message:
        "Get: the vault's firewall refuses the address of the worker (ForbiddenByFirewall); permit the address, or the network of the worker",
    });
  });

  test('names how long the vault asks to wait', async () => {
    const response = { status: 429, body: error('Throttled'), headers: { 'retry-after': '12' } };
    await expect(send(response)).rejects.toMatchObject({ retryAfterSeconds: 12 });
  });

  test.each([
    ['PUT', 'secrets/a', 'Set'],
    ['PATCH', 'secrets/a/1', 'Set'],
    ['DELETE', 'secrets/a', 'Delete'],
    ['GET', 'deletedsecrets/a', 'Get'],
    ['POST', 'deletedsecrets/a/recover', 'Recover'],
    ['DELETE', 'deletedsecrets/a', 'Purge'],
  ] as const)('%s %s is named by its permission %s', async (method, path, permission) => {
    const refused = send({ status: 403, body: error('Forbidden') }, { method, path });
    await expect(refused).rejects.toMatchObject({
      message: expect.stringMatching(`^${permission}: permission denied `),
    });
  });
});

describe('cloudB-kv 8: a challenge', () => {
  const challenged = (challenge: string, expected: string | null = audience) =>
    send(
      { status: 401, body: error('Unauthorized'), headers: { 'www-authenticate': challenge } },
      { token: false, expected },
    );
  const bearer = 'Bearer authorization="https://login.microsoftonline.com/x"';

  test.each([
    `${bearer}, resource="https://vault.azure.net"`,
    `${bearer}, resource="https://vault.azure.net/"`,
    `${bearer} scope="https://vault.azure.net/.default"`,
  ])('for vaults of the cloud is answered: %s', async (challenge) => {
    expect((await challenged(challenge)).status).toBe(401);
  });

  test.each([
    `${bearer}, resource="https://graph.microsoft.com"`,
    `${bearer}, resource="https://vault.azure.cn"`,
    `${bearer}, resource="https://vault.azure.net.evil.example"`,
    `${bearer}, resource="https://azure.net"`,
    'Bearer realm="x"',
  ])('for anything else is refused: %s', async (challenge) => {
    await expect(challenged(challenge)).rejects.toMatchObject({ kind: 'rejected' });
  });

  test('of the endpoint that the operator has configured may name any audience', async () => {
    const request = { token: false, expected: null };
    const headers = { 'www-authenticate': `${bearer}, resource="https://localhost"` };
    expect((await send({ status: 401, headers }, request)).status).toBe(401);
  });
});

describe('the tenant in the challenge', () => {
  const challenged = (tenant: string, remembered: string) =>
    send(
      {
        status: 401,
        headers: {
          'www-authenticate': `Bearer authorization="https://login.microsoftonline.com/${tenant}", resource="${audience}"`,
        },
      },
      { token: false, remembered },
    );

  test('must be the one of the first contact: no token is sent to the vault of another one', async () => {
    await expect(challenged('tenant-b', 'tenant-a')).rejects.toMatchObject({
      kind: 'rejected',
      message: expect.stringMatching(
        /^the tenant of the vault main.vault.azure.net is now another tenant \(ID tenant-b, was tenant-a\)/,
      ),
    });
    expect((await challenged('TENANT-A', 'tenant-a')).status).toBe(401);
  });
});
