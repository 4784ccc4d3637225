import { describe, expect, test } from '@jest/globals';
import { faultOf } from './call-faults.ts';

const answer = (status: number, error: object = {}, headers: Record<string, string> = {}) =>
  faultOf('creating', {
    status,
    headers: new Headers(headers),
    content: { error: { message: 'canary', ...error } },
  });

describe('a failed call', () => {
  test.each<[number, object, string]>([
    [400, { code: 'a <b> canary' }, 'rejected'],
    [403, { code: 'forbidden', invalidToken: false }, 'forbidden'],
    [418, { code: 'teapot' }, 'rejected'],
    [502, { code: 'a <b> canary' }, 'unavailable'],
  ])('with status %i and %j, which is not documented, is %s', (status, error, kind) => {
    const fault = answer(status, error);
    expect(fault).toMatchObject({ kind, message: expect.stringMatching(/^creating: .*\(/) });
    expect(fault?.message).not.toContain('canary');
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
