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

describe('a failed call', () => {
  test.each([
    [400, 'rejected', /status 400/],
    [401, 'unauthenticated', /status 401/],
    [404, 'rejected', /NotFound/],
    [409, 'rejected', /status 409/],
    [422, 'rejected', /ValidationFailed/],
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
