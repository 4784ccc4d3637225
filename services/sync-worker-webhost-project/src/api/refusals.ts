import type { Refusal } from '@secrets/sync-worker';

const errors = 'https://vercel.com/docs/rest-api/errors';
const create = 'https://vercel.com/docs/rest-api/projects/create-one-or-more-environment-variables';
const edit = 'https://vercel.com/docs/rest-api/projects/edit-an-environment-variable';
const remove = 'https://vercel.com/docs/rest-api/projects/remove-an-environment-variable';
const cli = 'https://github.com/vercel/vercel/blob/main/packages/cli/src/util/client.ts';
const sensitive = 'https://vercel.com/docs/environment-variables/sensitive-environment-variables';

/** Codes of a name that is in use: of the current API, and of earlier versions of it, which use status 403. */
export const conflictCodes = ['ENV_CONFLICT', 'ENV_ALREADY_EXISTS'] as const;

/** Codes of a record that does not exist, or of a project that does not. */
export const absentCodes = ['not_found', 'NOT_FOUND'] as const;

/** Codes of a request that breaks a rule, among them that sensitive variables are not for development. */
export const badRequestCodes = ['BAD_REQUEST', 'bad_request'] as const;

const whereToLook = 'check project_id, team_id, and what the token may do there';

const ofToken: readonly Refusal[] = [
  {
    code: ['invalidToken', 'missingToken'],
    kind: 'unauthenticated',
    sentence: 'access_token was not accepted',
    remedy: 'write a valid token',
    source: errors,
  },
  {
    status: [401],
    kind: 'unauthenticated',
    sentence: 'access_token was not accepted',
    remedy: 'write a valid token',
    source: create,
  },
  {
    code: ['saml'],
    kind: 'forbidden',
    sentence: 'the team requires single sign-on, which the token lacks',
    remedy: 'create the token while signed in to the team with SAML',
    source: cli,
  },
  {
    status: [403],
    text: /permissions are required to create production/i,
    kind: 'forbidden',
    sentence: 'the token may not create variables for production',
    remedy: 'use a token of a user with a higher role, or take production out of deployment_environments',
    source: create,
  },
];

/** Refusals because of a state that ends, mostly without the operator. */
const ofState: readonly Refusal[] = [
  {
    code: conflictCodes,
    kind: 'not_ready',
    sentence: 'the name was just taken in one of the environments, or is still being removed',
    source: create,
  },
  {
    status: [400],
    text: /ongoing update/i,
    kind: 'not_ready',
    sentence: 'the project is being changed',
    source: create,
  },
  {
    status: [409],
    kind: 'not_ready',
    sentence: 'the project is being changed, or transferred to another team',
    source: create,
  },
  {
    status: [402],
    kind: 'rejected_for_now',
    sentence: 'the account is blocked, or lacks a payment',
    remedy: 'settle the billing of the account with Vercel',
    source: create,
  },
  {
    status: [400],
    text: /project document is too large/i,
    kind: 'full',
    sentence: 'the project has no room for another variable',
    remedy: 'remove variables of the project, or shorten them',
    source: create,
  },
  {
    code: ['env_too_many_keys'],
    kind: 'full',
    sentence: 'the project has too many variables for a deployment',
    remedy: 'remove variables of the project',
    source: errors,
  },
];

const ofVariable: readonly Refusal[] = [
  {
    code: ['env_key_invalid_length'],
    kind: 'rejected',
    sentence: 'the name is longer than 256 characters',
    remedy: 'use another name template',
    source: errors,
  },
  {
    code: ['env_key_invalid_characters'],
    kind: 'rejected',
    sentence: 'the name has characters other than letters, digits and _',
    remedy: 'use another name template',
    source: errors,
  },
  {
    code: ['env_value_invalid_length'],
    kind: 'too_large',
    sentence: 'the value is longer than 65,536 characters',
    remedy: 'shorten the value',
    source: errors,
  },
  {
    status: [400],
    text: /not found in the connected git repository/i,
    kind: 'rejected_for_now',
    sentence: 'the git branch does not exist in the repository of the project',
    remedy: 'push the branch, or change git_branch',
    source: 'https://github.com/cliouo/FreeGPT35-Vercel/issues/13',
  },
  {
    status: [400],
    text: /cannot set production branch/i,
    kind: 'rejected',
    sentence: 'the git branch is the production branch of the project',
    remedy: 'change git_branch, or use the environment production',
    source: 'https://github.com/vercel/vercel/issues/15763',
  },
  {
    status: [400],
    code: badRequestCodes,
    text: /sensitive environment variable/i,
    kind: 'rejected',
    sentence: 'a sensitive variable cannot be for development, or become another type',
    remedy: 'remove the variable at Vercel, or take development out of deployment_environments',
    source: sensitive,
  },
  {
    status: [400],
    kind: 'rejected',
    sentence: 'the request was rejected',
    remedy: 'look at the policies of the team, and whether the custom environments exist',
    source: edit,
  },
];

const ofPlace: readonly Refusal[] = [
  { status: [403], kind: 'forbidden', sentence: 'permission denied', remedy: whereToLook, source: create },
  {
    status: [404],
    kind: 'rejected_for_now',
    sentence: 'the project was not found',
    remedy: whereToLook,
    source: errors,
  },
  {
    status: [410],
    kind: 'rejected_for_now',
    sentence: 'the project or the variable no longer exists',
    remedy: whereToLook,
    source: remove,
  },
];

const ofService: readonly Refusal[] = [
  {
    code: ['rate_limited', 'too_many_requests'],
    kind: 'throttled',
    sentence: 'too many requests',
    source: errors,
  },
  { status: [429], kind: 'throttled', sentence: 'too many requests', source: edit },
  {
    code: ['internal_server_error'],
    kind: 'unavailable',
    sentence: 'the service is unavailable',
    source: errors,
  },
  {
    status: [500, 502, 503, 504],
    kind: 'unavailable',
    sentence: 'the service is unavailable',
    source: edit,
  },
];

/** The documented refusals of every call, of which the first that matches counts. */
export const refusals: readonly Refusal[] = [...ofToken, ...ofState, ...ofService, ...ofVariable, ...ofPlace];
