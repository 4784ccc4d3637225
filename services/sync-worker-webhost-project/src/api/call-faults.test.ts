import { describe, expect, test } from '@jest/globals';
import { faultOf } from './call-faults.ts';
import { refusals } from './refusals.ts';

const answer = (status: number, error: object = {}, headers: Record<string, string> = {}) =>
  faultOf('creating', {
    status,
    headers: new Headers(headers),
    content: { error: { message: 'canary', ...error } },
  });

describe('a failed call', () => {
  test.each<[number, object, string, RegExp]>([
    [400, { code: 'ENV_CONFLICT' }, 'not_ready', /the name was just taken .*\(ENV_CONFLICT\)$/],
    [403, { code: 'ENV_ALREADY_EXISTS' }, 'not_ready', /\(ENV_ALREADY_EXISTS\)$/],
    [409, { code: 'ENV_CONFLICT' }, 'not_ready', /the name was just taken/],
    [400, { code: 'BAD_REQUEST' }, 'rejected', /rejected \(BAD_REQUEST\); look at the policies/],
    [400, { message: 'An ongoing update is canary' }, 'not_ready', /the project is being changed/],
    [400, { code: 'bad_request', message: 'project document is too large' }, 'full', /no room for another/],
    [400, { code: 'env_too_many_keys' }, 'full', /too many variables for a deployment/],
    [400, { code: 'env_value_invalid_length' }, 'too_large', /longer than 65,536 characters/],
    [400, { code: 'env_key_invalid_length' }, 'rejected', /longer than 256 characters.*name template$/],
    [400, { message: 'Branch "canary" not found in the connected Git repository.' }, 'rejected', /push the/],
    [400, { message: 'Cannot set Production Branch "canary" for' }, 'rejected', /is the production branch/],
    [401, {}, 'unauthenticated', /not accepted \(status 401\); write a valid token$/],
    [402, { code: 'payment_required' }, 'rejected', /settle the billing/],
    [403, { code: 'forbidden', invalidToken: true }, 'unauthenticated', /access_token was not accepted/],
    [403, { code: 'forbidden', missingToken: true }, 'unauthenticated', /access_token was not accepted/],
    [403, { code: 'forbidden', saml: true }, 'forbidden', /requires single sign-on/],
    [
      403,
      { message: 'Additional permissions are required to create production environment variables' },
      'forbidden',
      /may not create variables for production.*; use a token of a user with a higher role/,
    ],
    [403, { code: 'forbidden' }, 'forbidden', /\(forbidden\); check project_id, team_id/],
    [404, { code: 'not_found' }, 'rejected', /\(not_found\); check project_id, team_id/],
    [409, { code: 'project_transfer' }, 'not_ready', /being changed, or transferred/],
    [410, {}, 'rejected', /no longer exists \(status 410\)/],
    [429, { code: 'rate_limited' }, 'throttled', /\(rate_limited\)$/],
    [500, { code: 'internal_server_error' }, 'unavailable', /\(internal_server_error\)$/],
    [502, { code: 'a <b> canary' }, 'unavailable', /\(status 502\)$/],
  ])('with status %i and %j is %s', (status, error, kind, message) => {
    const fault = answer(status, error);
    expect(fault).toMatchObject({ kind, message: expect.stringMatching(message) });
    expect(fault?.message).toMatch(/^creating: /);
    expect(fault?.message).not.toContain('canary');
  });

  test('is recognised by the first refusal of the table that matches, and each refusal is the first for some call', () => {
    const shadowed = refusals.filter(
      (later, index) =>
        later.code === undefined &&
        refusals
          .slice(0, index)
          .some(
            (earlier) =>
              earlier.code === undefined &&
              earlier.text === undefined &&
              (later.status ?? []).every((status) => earlier.status?.includes(status)),
          ),
    );
    expect(shadowed).toEqual([]);
  });

  test('may succeed later where something else can change', () => {
    const passes = [402, 404, 410].map((status) => answer(status)?.mayPass);
    expect([...passes, answer(400)?.mayPass]).toEqual([true, true, true, false]);
  });

  test('with a body that is not that of the API is classified by its status', () => {
    for (const content of [undefined, 'canary', { error: 'canary' }, { error: { code: 7 } }]) {
      const response = { status: 403, headers: new Headers(), content };
      expect(faultOf('creating', response)).toMatchObject({ kind: 'forbidden' });
    }
  });

  test('that is a redirect, or a success without JSON, is unavailable', () => {
    const redirect = { status: 302, headers: new Headers(), content: undefined };
    expect(faultOf('creating', redirect)?.message).toMatch(/redirect, which is not followed/);
    expect(faultOf('creating', { ...redirect, status: 200 })).toMatchObject({ kind: 'unavailable' });
  });
});

describe('the time to wait', () => {
  const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;

  test('is that of Retry-After, else until the reset in the header, else in the body', () => {
    const reset = { 'x-ratelimit-reset': String(inSeconds(30)) };
    const body = { limit: { reset: inSeconds(90) } };
    expect(answer(429, body, { 'retry-after': '7', ...reset })?.retryAfterSeconds).toBe(7);
    expect(answer(429, body, reset)?.retryAfterSeconds).toBeLessThanOrEqual(30);
    expect(answer(429, body)?.retryAfterSeconds).toBeGreaterThan(80);
  });

  test('is at least a second, and undefined if nothing states it', () => {
    expect(answer(429, {}, { 'x-ratelimit-reset': String(inSeconds(-30)) })?.retryAfterSeconds).toBe(1);
    expect(answer(429, {}, { 'x-ratelimit-reset': 'soon' })?.retryAfterSeconds).toBeUndefined();
    expect(answer(429)?.retryAfterSeconds).toBeUndefined();
  });
});
