import { describe, expect, test } from '@jest/globals';
import { Fault } from '@secrets/domain';
import { faultOf } from './call-faults.ts';

const responded = (name: string, httpStatusCode: number, headers: Record<string, string> = {}) =>
  Object.assign(new Error('canary'), {
    name,
    $metadata: { httpStatusCode },
    $response: { statusCode: httpStatusCode, headers },
  });
const disconnected = (code: string) => Object.assign(new Error('canary'), { code });

describe('cloudA-sm 8: a failed call', () => {
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
  ])('with error code %s and status %i is %s', (code, status, kind) => {
    const fault = faultOf(responded(code, status), 'CreateSecret');
    expect(fault.kind).toBe(kind);
    expect(fault.message).toContain(code);
    expect(fault.message).not.toContain('canary');
  });

  test.each([
    [responded('Error', 502), /status 502/],
    [responded('SyntaxError', 200), /response cannot be parsed/],
    [responded('Error', 302), /redirect/],
    [disconnected('ECONNREFUSED'), /connection failed \(ECONNREFUSED\)/],
    [disconnected('ENOTFOUND'), /connection failed/],
    [disconnected('CERT_HAS_EXPIRED'), /certificate was not accepted/],
    [disconnected('DEPTH_ZERO_SELF_SIGNED_CERT'), /certificate was not accepted/],
    [disconnected('ERR_TLS_CERT_ALTNAME_INVALID'), /certificate was not accepted/],
    [new Error('socket hang up'), /connection was closed/],
    [Object.assign(new Error('canary'), { name: 'TimeoutError' }), /did not respond in time/],
    [Object.assign(new Error('canary'), { name: 'AbortError' }), /aborted at its time limit/],
  ])('without an error response is unavailable: %s', (error, sentence) => {
    const fault = faultOf(error, 'CreateSecret');
    expect(fault.kind).toBe('unavailable');
    expect(fault.message).toMatch(sentence);
    expect(fault.message).not.toContain('canary');
  });

  test('names how long the service asks to wait', () => {
    const error = responded('Throttling', 400, { 'retry-after': '12' });
    expect(faultOf(error, 'CreateSecret').retryAfterSeconds).toBe(12);
  });

  test('for lack of credentials is unauthenticated', () => {
    const error = Object.assign(new Error('canary'), { name: 'CredentialsProviderError' });
    expect(faultOf(error, 'finding credentials')).toMatchObject({ kind: 'unauthenticated' });
  });
});

test('faults are returned unchanged, and other errors are thrown', () => {
  const fault = new Fault('conflict', 'in use');
  expect(faultOf(fault, 'x')).toBe(fault);
  expect(() => faultOf(new TypeError('bug'), 'x')).toThrow(TypeError);
});
