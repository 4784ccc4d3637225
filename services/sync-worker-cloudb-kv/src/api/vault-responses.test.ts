import { createHttpHeaders, createPipelineRequest, type PipelineResponse } from '@azure/core-rest-pipeline';
import { describe, expect, test } from '@jest/globals';
import type { Fault } from '@secrets/domain';
import { type CodeKind, type Refusal, ScopeMemory } from '@secrets/sync-worker';
import { retriesOf } from '@secrets/sync-worker/testing';
import { refusals } from './refusals.ts';
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

const slowly = '60 s to 3600 s';
const soon = '1 s to 60 s';
const afterLimit = '1 s to 300 s';
const afterOutage = '1 s to 600 s';

/**
 * The errors that vaults document, on the pages that `refusals.ts` names, and their consequences: the kind of the fault, when
 * the entry is tried again, and `last_error` after the permission for the call.
 */
const documented: [number, object, CodeKind, string, string][] = [
  [
    401,
    error('Unauthorized', undefined, 'AKV10032: Invalid issuer. Expected one of canary'),
    'unauthenticated',
    slowly,
    'the vault does not belong to the tenant of the credentials (Unauthorized); check tenant_id',
  ],
  [
    401,
    error('Unauthorized'),
    'unauthenticated',
    slowly,
    'the credentials were not accepted (Unauthorized); check tenant_id, client_id and cloud',
  ],
  [
    403,
    error('Forbidden', 'ForbiddenByGovernancePolicy', 'Secrets should have content type set: canary'),
    'rejected_for_now',
    slowly,
    'a policy denies secrets without a content type (ForbiddenByGovernancePolicy); set content_type',
  ],
  [
    403,
    error(
      'Forbidden',
      'ForbiddenByGovernancePolicy',
      'Key Vault secrets should have an expiration date: canary',
    ),
    'rejected_for_now',
    slowly,
    'a policy denies secrets that do not expire (ForbiddenByGovernancePolicy); set expires_after',
  ],
  [
    403,
    error(
      'Forbidden',
      'ForbiddenByGovernancePolicy',
      'Secrets should have the specified maximum validity period: canary',
    ),
    'rejected_for_now',
    slowly,
    'a policy denies secrets that do not expire, or are valid for so long (ForbiddenByGovernancePolicy); set expires_after to less than its maximum',
  ],
  [
    403,
    error(
      'Forbidden',
      'ForbiddenByGovernancePolicy',
      'Secrets should not be active for longer than the specified number of days: canary',
    ),
    'rejected_for_now',
    slowly,
    'a policy denies secrets that have been active for so long (ForbiddenByGovernancePolicy); give the secret a later activation date in the vault',
  ],
  [
    403,
    error(
      'Forbidden',
      'ForbiddenByGovernancePolicy',
      'Secrets should have more than the specified number of days before expiration: canary',
    ),
    'rejected_for_now',
    slowly,
    'a policy denies secrets that expire so soon (ForbiddenByGovernancePolicy); set expires_after to more than its minimum',
  ],
  [
    403,
    error('Forbidden', 'ForbiddenByGovernancePolicy'),
    'rejected_for_now',
    slowly,
    'a policy of the subscription denies the secret (ForbiddenByGovernancePolicy); look for the policy at the vault, and exempt the vault or change the settings',
  ],
  [
    403,
    error('Forbidden', 'ForbiddenByRbac'),
    'forbidden',
    slowly,
    'permission denied: no role of the credentials includes this call (ForbiddenByRbac); assign a role such as Key Vault Secrets Officer, which takes effect within minutes',
  ],
  [
    403,
    error('Forbidden', 'ForbiddenByPolicy'),
    'forbidden',
    slowly,
    'permission denied: the access policy of the vault does not include this call (ForbiddenByPolicy); add the permission for secrets to the access policy',
  ],
  [
    403,
    error('Forbidden', 'AccessDenied'),
    'forbidden',
    slowly,
    'permission denied: the access policy of the vault does not include this call (AccessDenied); add the permission for secrets to the access policy',
  ],
  [
    403,
    error('Forbidden', 'ForbiddenByFirewall'),
    'forbidden',
    slowly,
    "the vault's firewall refuses the address of the worker (ForbiddenByFirewall); permit the address, or the network of the worker",
  ],
  [
    403,
    error('Forbidden', 'ForbiddenByConnection'),
    'forbidden',
    slowly,
    "the vault permits only private connections, and the worker has none (ForbiddenByConnection); connect the worker's network to the vault's private endpoint, or enable public access",
  ],
  [
    403,
    error('Forbidden', 'SecretDisabled'),
    'rejected_for_now',
    slowly,
    'the secret is disabled in the vault (SecretDisabled); enable or delete it there',
  ],
  [
    403,
    error(
      'Forbidden',
      undefined,
      'Client address (192.0.2.1) is not authorized and caller is not a trusted service',
    ),
    'forbidden',
    slowly,
    "the vault's firewall refuses the address of the worker (Forbidden); permit the address, or the network of the worker",
  ],
  [
    403,
    error('Forbidden'),
    'forbidden',
    slowly,
    'permission denied (Forbidden); grant the permission for this call; it takes effect within minutes',
  ],
  [
    409,
    error('Conflict', 'ObjectIsBeingDeleted'),
    'not_ready',
    soon,
    'the secret is being deleted, recovered or purged (ObjectIsBeingDeleted)',
  ],
  [
    409,
    error('Conflict', 'ObjectIsBeingRecovered'),
    'not_ready',
    soon,
    'the secret is being deleted, recovered or purged (ObjectIsBeingRecovered)',
  ],
  [
    409,
    error('Conflict', 'ObjectIsBeingPurged'),
    'not_ready',
    soon,
    'the secret is being deleted, recovered or purged (ObjectIsBeingPurged)',
  ],
  [
    409,
    error('Conflict', 'ObjectIsDeletedButRecoverable'),
    'not_ready',
    soon,
    'a deleted secret has the name (ObjectIsDeletedButRecoverable)',
  ],
  [409, error('Conflict'), 'not_ready', soon, 'another change of the secret is under way (Conflict)'],
  [
    404,
    error('SecretNotFound'),
    'rejected_for_now',
    slowly,
    'the vault or the secret does not exist (SecretNotFound); check key_vault_uri',
  ],
  [
    400,
    error('BadParameter'),
    'rejected',
    'never',
    'the name, the value, a tag or a date breaks a rule of the vault (BadParameter); see the rules of the type',
  ],
  [429, error('Throttled'), 'throttled', afterLimit, 'too many requests (Throttled)'],
  [
    500,
    error('InternalServerError'),
    'unavailable',
    afterOutage,
    'the service is unavailable (InternalServerError)',
  ],
  [502, error('BadGateway'), 'unavailable', afterOutage, 'the service is unavailable (BadGateway)'],
  [
    503,
    error('ServiceUnavailable'),
    'unavailable',
    afterOutage,
    'the service is unavailable (ServiceUnavailable)',
  ],
  [504, error('GatewayTimeout'), 'unavailable', afterOutage, 'the service is unavailable (GatewayTimeout)'],
];

describe.each([
  ['PUT', 'secrets/a', 'Set'],
  ['PATCH', 'secrets/a/1', 'Set'],
  ['DELETE', 'secrets/a', 'Delete'],
  ['GET', 'secrets/a', 'Get'],
  ['GET', 'deletedsecrets/a', 'Get'],
  ['POST', 'deletedsecrets/a/recover', 'Recover'],
  ['DELETE', 'deletedsecrets/a', 'Purge'],
] as const)('a refused call %s %s, which needs %s,', (method, path, permission) => {
  test.each(documented)(
    'with status %i and body %j is %s, tried again %s: %s',
    async (status, body, ...follows) => {
      const [kind, retries, sentence] = follows;
      const fault = await send({ status, body }, { method, path }).catch((thrown: unknown) => thrown);
      expect(fault).toMatchObject({
        name: 'Fault',
        kind: kind === 'rejected_for_now' ? 'rejected' : kind,
        mayPass: kind === 'rejected_for_now',
        message: `${permission}: ${sentence}`,
      });
      expect(retriesOf(fault as Fault)).toBe(retries);
    },
  );
});

test('each documented refusal of vaults is the first that matches an error of this list, with each of its codes or statuses', () => {
  const isOfDirectory = ({ code, text }: Refusal) => /AADSTS/.test(`${code} ${text?.source}`);
  const table = refusals
    .filter((refusal) => !isOfDirectory(refusal))
    .flatMap(({ code, status = [], kind, sentence, remedy }) =>
      (code ?? status).map((cause) => [
        kind,
        remedy === undefined ? sentence : `${sentence}; ${remedy}`,
        cause,
      ]),
    );
  const listed = documented.map(([status, , kind, , says], index) => {
    const [shown = '', code = ''] = / \((\w+)\)/.exec(says) ?? [];
    return [kind, says.replace(shown, ''), typeof table[index]?.[2] === 'number' ? status : code];
  });
  expect(listed).toEqual(table);
});

describe('a failed call', () => {
  test.each([
    [503, 'canary', 'unavailable', 'Get: the service is unavailable (status 503)'],
    [418, error('canary 1'), 'rejected', 'Get: the request was rejected (status 418)'],
    [302, '', 'unavailable', 'Get: the service responded with a redirect, which is not followed'],
    [200, '<html>canary', 'unavailable', 'Get: the response cannot be parsed'],
    [200, { value: 'canary' }, 'unavailable', 'Get: the response cannot be parsed'],
  ])('with status %i and body %j, which is not documented, is %s', async (status, body, kind, message) => {
    await expect(send({ status, body })).rejects.toMatchObject({ kind, message });
  });

  test('names how long the vault asks to wait', async () => {
    const response = { status: 429, body: error('Throttled'), headers: { 'retry-after': '12' } };
    await expect(send(response)).rejects.toMatchObject({ retryAfterSeconds: 12 });
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
