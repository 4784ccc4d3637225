import { describe, expect, test } from '@jest/globals';
import { Fault } from '@secrets/domain';
import { faultOf } from './fault-of.ts';

const answered = (name: string, httpStatusCode: number, headers: Record<string, string> = {}) =>
  Object.assign(new Error('canary'), {
    name,
    $metadata: { httpStatusCode },
    $response: { statusCode: httpStatusCode, headers },
  });
const failed = (code: string) => Object.assign(new Error('canary'), { code });

describe('each failure becomes a fault of the closed list', () => {
  test.each([
    ['ThrottlingException', 400, 'throttled'],
    ['Throttling', 400, 'throttled'],
    ['RequestLimitExceeded', 400, 'throttled'],
    ['TooManyRequestsException', 429, 'throttled'],
    ['InternalServiceError', 500, 'unavailable'],
    ['AccessDeniedException', 400, 'forbidden'],
    ['UnrecognizedClientException', 400, 'unauthenticated'],
    ['InvalidClientTokenId', 403, 'unauthenticated'],
    ['ExpiredToken', 403, 'unauthenticated'],
    ['IncompleteSignature', 400, 'unauthenticated'],
    ['DecryptionFailure', 400, 'rejected'],
    ['EncryptionFailure', 400, 'rejected'],
    ['LimitExceededException', 400, 'rejected'],
    ['InvalidParameterException', 400, 'rejected'],
    ['ValidationException', 400, 'rejected'],
    ['SomethingNew', 400, 'rejected'],
    ['SomethingNew', 401, 'unauthenticated'],
    ['SomethingNew', 403, 'forbidden'],
    ['SomethingNew', 429, 'throttled'],
    ['SomethingNew', 503, 'unavailable'],
  ])('%s with status %i: %s', (code, status, kind) => {
    const fault = faultOf(answered(code, status), 'CreateSecret');
    expect(fault.kind).toBe(kind);
    expect(fault.message).toContain(code);
    expect(fault.message).not.toContain('canary');
  });

  test.each([
    [answered('Error', 502), /status 502/],
    [answered('SyntaxError', 200), /cannot be understood/],
    [answered('Error', 302), /redirect/],
    [failed('ECONNREFUSED'), /connection failed \(ECONNREFUSED\)/],
    [failed('ENOTFOUND'), /connection failed/],
    [failed('CERT_HAS_EXPIRED'), /certificate is not accepted/],
    [failed('DEPTH_ZERO_SELF_SIGNED_CERT'), /certificate is not accepted/],
    [failed('ERR_TLS_CERT_ALTNAME_INVALID'), /certificate is not accepted/],
    [new Error('socket hang up'), /connection was closed/],
    [Object.assign(new Error('canary'), { name: 'TimeoutError' }), /in time/],
    [Object.assign(new Error('canary'), { name: 'AbortError' }), /given up/],
  ])('%s is unavailable', (error, sentence) => {
    const fault = faultOf(error, 'CreateSecret');
    expect(fault.kind).toBe('unavailable');
    expect(fault.message).toMatch(sentence);
    expect(fault.message).not.toContain('canary');
  });

  test('no credentials anywhere are unauthenticated', () => {
    const error = Object.assign(new Error('canary'), { name: 'CredentialsProviderError' });
    expect(faultOf(error, 'finding credentials')).toMatchObject({ kind: 'unauthenticated' });
  });
});

test('Retry-After is read in seconds or as a date, and bounded', () => {
  const wait = (header: string) =>
    faultOf(answered('Throttling', 400, { 'retry-after': header }), 'x').retryAfterSeconds;
  expect(wait('12')).toBe(12);
  expect(wait('999999999')).toBe(86_400);
  expect(wait(new Date(Date.now() + 30_000).toUTCString())).toBeGreaterThan(25);
  expect(wait('soon')).toBeUndefined();
});

test('a fault stays what it is, and a bug of ours is not dressed up', () => {
  const fault = new Fault('conflict', 'taken');
  expect(faultOf(fault, 'x')).toBe(fault);
  expect(() => faultOf(new TypeError('ours'), 'x')).toThrow(TypeError);
});
