import { describe, expect, test } from '@jest/globals';
import { Fault } from '@secrets/domain';
import { faultOf } from './call-faults.ts';

const nowSeconds = Math.floor(Date.now() / 1000);
const responded = (status: number, headers: Record<string, string> = {}, message = 'canary') =>
  Object.assign(new Error('canary'), {
    name: 'HttpError',
    status,
    response: { status, headers, data: { message, documentation_url: 'canary' } },
  });
const disconnected = (cause: Error) =>
  Object.assign(new Error('canary', { cause }), { name: 'HttpError', status: 500 });

const secondary = 'You have exceeded a secondary rate limit. canary';
const exhausted = (reset: number) => ({ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(reset) });

describe('codehost 5: a call that exceeded a limit is throttled until the time given', () => {
  test.each<[string, number, Record<string, string>, string, number]>([
    ['403 with retry-after', 403, { 'retry-after': '7' }, 'canary', 7],
    ['429 with retry-after', 429, { 'retry-after': '7' }, 'canary', 7],
    ['429 alone', 429, {}, 'canary', 60],
    ['403 with the message', 403, {}, secondary, 60],
    ['403 with the former message', 403, {}, 'You have triggered an abuse detection mechanism', 60],
    ['403 with no requests left and no time', 403, { 'x-ratelimit-remaining': '0' }, 'canary', 60],
    ['a time that has passed', 403, exhausted(nowSeconds - 100), 'canary', 1],
  ])('%s', (_, status, headers, message, seconds) => {
    const fault = faultOf(responded(status, headers, message), 'write');
    expect(fault).toMatchObject({ kind: 'throttled', retryAfterSeconds: seconds });
    expect(fault.message).toBe('write: too many requests (RateLimited)');
  });

  test("the time of the reset is read by the provider's clock", () => {
    const theirs = nowSeconds - 5_000;
    const headers = { ...exhausted(theirs + 120), date: new Date(theirs * 1000).toUTCString() };
    expect(faultOf(responded(403, headers), 'write').retryAfterSeconds).toBe(120);
  });

  test.each([
    [403, { 'x-ratelimit-remaining': '10' }, 'forbidden'],
    [403, {}, 'forbidden'],
    [404, { 'x-ratelimit-remaining': '0' }, 'rejected'],
  ])('any other %i is %j', (status, headers, kind) => {
    expect(faultOf(responded(status, headers as Record<string, string>), 'write').kind).toBe(kind);
  });
});

describe('a documented refusal', () => {
  const sso = { 'x-github-sso': 'required; url=https://github.com/orgs/acme/sso?canary' };
  const permission = 'Resource not accessible by personal access token canary';
  const named = { 'x-accepted-github-permissions': 'secrets=write' };
  const cannot =
    'Although you appear to have the correct authorization credentials, the `canary` organization has';
  const suspended = 'Sorry. This installation owned by canary suspended your access at 2026-01-01T00:00:00Z.';
  const remaining = { 'x-ratelimit-remaining': '0' };
  test.each<[number, string, Record<string, string>, string, RegExp]>([
    [
      403,
      'This installation has been suspended',
      {},
      'unauthenticated',
      /the installation is suspended .*; unsuspend/,
    ],
    [403, suspended, {}, 'unauthenticated', /the installation is suspended/],
    [403, 'Sorry. Your account was suspended.', {}, 'unauthenticated', /account of the token is suspended/],
    [
      403,
      'canary',
      sso,
      'forbidden',
      /requires single sign-on \(SAML\) \(X-GitHub-SSO\); authorize the token/,
    ],
    [403, 'Resource protected by organization SAML enforcement. canary', {}, 'forbidden', /single sign-on/],
    [
      403,
      `${cannot} an IP allow list enabled, and your IP canary`,
      {},
      'forbidden',
      /IP allow list .*; add the addr/,
    ],
    [
      403,
      '`canary` forbids access via a personal access token (classic).',
      {},
      'forbidden',
      /policy does not/,
    ],
    [
      403,
      `${cannot} enabled OAuth App access restrictions, canary`,
      {},
      'forbidden',
      /OAuth apps .*; approve/,
    ],
    [403, 'Repository was archived so is read-only.', remaining, 'may pass', /is archived .*; unarchive it$/],
    [403, 'Repository has been locked for migration.', {}, 'may pass', /is locked while it is migrated/],
    [403, 'Repository access blocked', {}, 'may pass', /provider has disabled the repository/],
    [451, 'canary', {}, 'may pass', /provider has disabled the repository/],
    [
      403,
      'Upgrade to GitHub Pro or make this repository public to canary',
      {},
      'may pass',
      /the plan .*; upgrade/,
    ],
    [403, 'Maximum number of login attempts exceeded.', {}, 'throttled', /account is locked for a while/],
    [403, 'Must have admin rights to Repository.', {}, 'forbidden', /may not manage these .*; use the token/],
    [
      403,
      'Repository has been locked due to a billing issue. canary',
      {},
      'may pass',
      /a billing issue .*; settle/,
    ],
    [403, 'At least one email address must be verified to do that.', {}, 'forbidden', /no verified e-mail/],
    [
      403,
      'Resource not accessible by integration',
      {},
      'forbidden',
      /lacks a permission \(status 403\); grant it/,
    ],
    [403, permission, named, 'forbidden', /lacks a permission \(status 403: secrets=write\); grant it/],
    [
      403,
      permission,
      { 'x-accepted-github-permissions': 'canary' },
      'forbidden',
      /a permission \(status 403\);/,
    ],
    [403, 'canary', { 'x-github-sso': 'partial-results; organizations=1' }, 'forbidden', /permission denied/],
    [400, 'canary is not a supported version', {}, 'may pass', /does not support the version 2022-11-28/],
    [404, 'Not Found', {}, 'may pass', /does not exist, or .* \(NotFound\)/],
    [409, 'canary', {}, 'may pass', /in another state than expected/],
    [422, 'canary', {}, 'rejected', /breaks a rule of the provider \(ValidationFailed\)/],
  ])('%i %s with %j: %s', (status, message, headers, kind, sentence) => {
    const fault = faultOf(responded(status, headers, message), 'write');
    expect(fault.mayPass ? 'may pass' : fault.kind).toBe(kind);
    expect(fault.message).toMatch(sentence);
    expect(fault.message).not.toContain('canary');
  });
});

describe('a failed call', () => {
  test.each([
    [400, 'rejected', /status 400/],
    [401, 'unauthenticated', /BadCredentials/],
    [500, 'unavailable', /status 500/],
    [502, 'unavailable', /status 502/],
    [304, 'unavailable', /unexpected status 304/],
  ])('with status %i is %s', (status, kind, sentence) => {
    const fault = faultOf(responded(status), 'getRepoSecret');
    expect(fault.kind).toBe(kind);
    expect(fault.message).toMatch(sentence);
    expect(fault.message).not.toContain('canary');
  });

  test('without the connection is unavailable', () => {
    const cause = Object.assign(new Error('canary'), { code: 'ECONNREFUSED' });
    for (const error of [cause, disconnected(cause), disconnected(new TypeError('canary', { cause }))]) {
      const fault = faultOf(error, 'getRepoSecret');
      expect(fault).toMatchObject({ kind: 'unavailable', message: expect.stringContaining('ECONNREFUSED') });
      expect(fault.message).not.toContain('canary');
    }
  });

  test('that was aborted is unavailable, however the abort is reported', async () => {
    const aborted = AbortSignal.abort().reason as Error;
    const timedOut = AbortSignal.timeout(0);
    await new Promise((resolve) => timedOut.addEventListener('abort', resolve));
    for (const reason of [aborted, timedOut.reason as Error])
      for (const error of [reason, disconnected(reason)])
        expect(faultOf(error, 'getRepoSecret').kind).toBe('unavailable');
  });

  test('that the egress guard refused keeps its fault', () => {
    const refused = new Fault('forbidden', 'connection refused');
    expect(faultOf(disconnected(refused), 'x')).toBe(refused);
    expect(faultOf(disconnected(new TypeError('x', { cause: refused })), 'x')).toBe(refused);
    expect(faultOf(refused, 'x')).toBe(refused);
  });

  test('that is a bug is thrown', () => {
    expect(() => faultOf(new TypeError('bug'), 'x')).toThrow(TypeError);
    expect(() => faultOf(disconnected(new RangeError('bug')), 'x')).toThrow(RangeError);
  });
});
