import { describe, expect, test } from '@jest/globals';
import type { Fault } from '@secrets/domain';
import type { CodeKind } from '@secrets/sync-worker';
import { retriesOf } from '@secrets/sync-worker/testing';
import { EnvironmentApi } from './environment-api.ts';
import { refusals } from './refusals.ts';

const slowly = '60 s to 3600 s';
const soon = '1 s to 60 s';
const afterLimit = '1 s to 300 s';
const afterOutage = '1 s to 600 s';

/**
 * The errors that the provider documents, on the pages that `refusals.ts` names, and their consequences: the kind of the
 * fault, when the entry is tried again, and `last_error` after the name of the operation.
 */
const documented: [number, object, CodeKind, string, string][] = [
  [
    403,
    { code: 'forbidden', invalidToken: true },
    'unauthenticated',
    slowly,
    'access_token was not accepted (invalidToken); write a valid token',
  ],
  [
    403,
    { code: 'forbidden', missingToken: true },
    'unauthenticated',
    slowly,
    'access_token was not accepted (missingToken); write a valid token',
  ],
  [401, {}, 'unauthenticated', slowly, 'access_token was not accepted (status 401); write a valid token'],
  [
    403,
    { code: 'forbidden', saml: true },
    'forbidden',
    slowly,
    'the team requires single sign-on, which the token lacks (saml); create the token while signed in to the team with SAML',
  ],
  [
    403,
    { message: 'Additional permissions are required to create production environment variables canary' },
    'forbidden',
    slowly,
    'the token may not create variables for production (status 403); use a token of a user with a higher role, or take production out of deployment_environments',
  ],
  [
    400,
    { code: 'ENV_CONFLICT' },
    'not_ready',
    soon,
    'the name was just taken in one of the environments, or is still being removed (ENV_CONFLICT)',
  ],
  [
    403,
    { code: 'ENV_ALREADY_EXISTS' },
    'not_ready',
    soon,
    'the name was just taken in one of the environments, or is still being removed (ENV_ALREADY_EXISTS)',
  ],
  [
    400,
    { message: 'There is an ongoing update for canary' },
    'not_ready',
    soon,
    'the project is being changed (status 400)',
  ],
  [409, {}, 'not_ready', soon, 'the project is being changed, or transferred to another team (status 409)'],
  [
    402,
    {},
    'rejected_for_now',
    slowly,
    'the account is blocked, or lacks a payment (status 402); settle the billing of the account with Vercel',
  ],
  [
    400,
    { message: 'The project document is too large: canary' },
    'full',
    slowly,
    'the project has no room for another variable (status 400); remove variables of the project, or shorten them',
  ],
  [
    400,
    { code: 'env_too_many_keys' },
    'full',
    slowly,
    'the project has too many variables for a deployment (env_too_many_keys); remove variables of the project',
  ],
  [429, { code: 'rate_limited' }, 'throttled', afterLimit, 'too many requests (rate_limited)'],
  [429, { code: 'too_many_requests' }, 'throttled', afterLimit, 'too many requests (too_many_requests)'],
  [429, {}, 'throttled', afterLimit, 'too many requests (status 429)'],
  [
    500,
    { code: 'internal_server_error' },
    'unavailable',
    afterOutage,
    'the service is unavailable (internal_server_error)',
  ],
  [500, {}, 'unavailable', afterOutage, 'the service is unavailable (status 500)'],
  [502, {}, 'unavailable', afterOutage, 'the service is unavailable (status 502)'],
  [503, {}, 'unavailable', afterOutage, 'the service is unavailable (status 503)'],
  [504, {}, 'unavailable', afterOutage, 'the service is unavailable (status 504)'],
  [
    400,
    { code: 'env_key_invalid_length' },
    'rejected',
    'never',
    'the name is longer than 256 characters (env_key_invalid_length); use another name template',
  ],
  [
    400,
    { code: 'env_key_invalid_characters' },
    'rejected',
    'never',
    'the name has characters other than letters, digits and _ (env_key_invalid_characters); use another name template',
  ],
  [
    400,
    { code: 'env_value_invalid_length' },
    'too_large',
    'never',
    'the value is longer than 65,536 characters (env_value_invalid_length); shorten the value',
  ],
  [
    400,
    { message: 'Branch "canary" not found in the connected Git repository.' },
    'rejected_for_now',
    slowly,
    'the git branch does not exist in the repository of the project (status 400); push the branch, or change git_branch',
  ],
  [
    400,
    { message: 'Cannot set Production Branch "canary" for a Preview Environment Variable.' },
    'rejected',
    'never',
    'the git branch is the production branch of the project (status 400); change git_branch, or use the environment production',
  ],
  ...['BAD_REQUEST', 'bad_request'].map((code): (typeof documented)[number] => [
    400,
    { code, message: 'You cannot set a Sensitive Environment Variable for canary' },
    'rejected',
    'never',
    `a sensitive variable cannot be for development, or become another type (${code}); remove the variable at Vercel, or take development out of deployment_environments`,
  ]),
  [
    400,
    { code: 'bad_request' },
    'rejected',
    'never',
    'the request was rejected (bad_request); look at the policies of the team, and whether the custom environments exist',
  ],
  [
    403,
    { code: 'forbidden' },
    'forbidden',
    slowly,
    'permission denied (forbidden); check project_id, team_id, and what the token may do there',
  ],
  [
    404,
    { code: 'not_found' },
    'rejected_for_now',
    slowly,
    'the project was not found (not_found); check project_id, team_id, and what the token may do there',
  ],
  [
    410,
    {},
    'rejected_for_now',
    slowly,
    'the project or the variable no longer exists (status 410); check project_id, team_id, and what the token may do there',
  ],
];

const record = { id: 'e1', key: 'A', value: 'canary', type: 'encrypted', target: ['production'] } as const;
const variable = { ...record, gitBranch: null, comment: '' };

interface Call {
  send(api: EnvironmentApi, signal: AbortSignal): Promise<unknown>;
  operation: string;
  /** Whether the provider's response that there is none is not a fault. */
  mayBeAbsent?: true;
}

/** Each call of the driver. */
const calls: {
  [Name in keyof EnvironmentApi as EnvironmentApi[Name] extends (...args: never) => unknown
    ? Name
    : never]: Call;
} = {
  idOf: {
    send: (api, signal) => api.idOf('p', signal),
    operation: 'reading the project',
    mayBeAbsent: true,
  },
  list: { send: (api, signal) => api.list(signal), operation: 'listing the environment variables' },
  find: {
    send: (api, signal) => api.find('e1', signal),
    operation: 'reading the environment variable',
    mayBeAbsent: true,
  },
  valueOf: {
    send: (api, signal) => api.valueOf('e1', signal),
    operation: 'reading the environment variable',
  },
  create: {
    send: (api, signal) => api.create([variable], signal),
    operation: 'creating the environment variable',
  },
  edit: {
    send: (api, signal) => api.edit('e1', { value: 'canary' }, signal),
    operation: 'changing the environment variable',
    mayBeAbsent: true,
  },
  remove: {
    send: (api, signal) => api.remove('e1', signal),
    operation: 'removing the environment variable',
    mayBeAbsent: true,
  },
};

/** The API that always responds with this, and how many requests it got. */
function responding(status: number, content: object, headers: Record<string, string> = {}) {
  const received = { requests: 0 };
  const fetch = (async () => {
    received.requests += 1;
    return new Response(JSON.stringify(content), { status, headers });
  }) as typeof globalThis.fetch;
  const access = { endpointUrl: 'http://host', accessToken: 't', projectId: 'p', teamId: '', fetch };
  return { api: new EnvironmentApi(access), received };
}

const outcomeOf = (call: Call, api: EnvironmentApi, { signal } = new AbortController()) =>
  call.send(api, signal).catch((error: unknown) => error);

const expected = (kind: CodeKind, message: string) => ({
  name: 'Fault',
  kind: kind === 'rejected_for_now' ? 'rejected' : kind,
  mayPass: kind === 'rejected_for_now',
  message,
});

const errorBody = (error: object) => ({ error: { message: 'canary', ...error } });

describe.each(Object.entries(calls))('a refused call of %s', (_, call) => {
  const faults = documented.filter(([status]) => status !== 404 || !call.mayBeAbsent);

  test.each(faults)('with status %i and %j is %s, tried again %s: %s', async (status, error, ...follows) => {
    const [kind, retries, sentence] = follows;
    const { api, received } = responding(status, errorBody(error));
    const fault = await outcomeOf(call, api);
    expect(fault).toMatchObject(expected(kind, `${call.operation}: ${sentence}`));
    expect([retriesOf(fault as Fault), received.requests]).toEqual([retries, 1]);
  });

  test('is repeated once within the attempt if it is throttled, and otherwise not', async () => {
    for (const [status, requests] of [
      [429, 2],
      [503, 1],
    ] as const) {
      const { signal } = new AbortController();
      await responding(200, { envs: [] }).api.list(signal);
      const { api, received } = responding(status, errorBody({}));
      await outcomeOf(call, api, { signal } as AbortController);
      expect(received.requests).toBe(requests);
    }
  });

  test('states how long the provider asks to wait', async () => {
    const { api } = responding(429, errorBody({}), { 'retry-after': '90' });
    const fault = (await outcomeOf(call, api)) as Fault;
    expect(fault.retryAfterSeconds).toBe(90);
  });
});

describe('what is absent', () => {
  const tolerant = Object.entries(calls).filter(([, { mayBeAbsent }]) => mayBeAbsent);

  test.each(tolerant)('is no fault of %s', async (_, call) => {
    const { api, received } = responding(404, errorBody({ code: 'not_found' }));
    expect(await outcomeOf(call, api)).toBeUndefined();
    expect(received.requests).toBe(1);
  });
});

describe('a creation with status 201 that lists a failure', () => {
  test.each(documented.filter(([status]) => status === 400))(
    'with status %i and %j is %s, tried again %s: %s',
    async (_, error, kind, retries, sentence) => {
      const { api } = responding(201, { created: null, failed: [errorBody(error)] });
      const fault = await outcomeOf(calls.create, api);
      expect(fault).toMatchObject(expected(kind, `${calls.create.operation}: ${sentence}`));
      expect(retriesOf(fault as Fault)).toBe(retries);
    },
  );
});

test('each documented refusal is the first that matches an error of this list, with each of its codes or statuses', () => {
  const table = refusals.flatMap(({ code, status = [], kind, sentence, remedy }) =>
    (code ?? status).map((cause) => [
      kind,
      remedy === undefined ? sentence : `${sentence}; ${remedy}`,
      cause,
    ]),
  );
  const listed = documented.map(([status, , kind, , says], index) => {
    const [shown = '', code = ''] = / \((.*?)\)/.exec(says) ?? [];
    return [kind, says.replace(shown, ''), typeof table[index]?.[2] === 'number' ? status : code];
  });
  expect(listed).toEqual(table);
});
