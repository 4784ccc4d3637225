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
    ['LimitExceededException', 400, 'full'],
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
    ['DecryptionFailure', true],
    ['KMSDisabledException', true],
    ['ResourceNotFoundException', true],
    ['InvalidRequestException', true],
    ['InvalidParameterException', false],
    ['ValidationException', false],
  ])('with the rejection %s may pass: %j', (code, mayPass) => {
    expect(faultOf(responded(code, 400), 'PutSecretValue')).toMatchObject({ kind: 'rejected', mayPass });
  });

  const user = 'User: arn:aws:iam::123456789012:user/canary is not authorized to perform:';
  const action = `${user} secretsmanager:CreateSecret on resource: canary`;
  test.each([
    ['Access to KMS is not allowed', /KMS key may not be used/],
    [
      `${user} kms:GenerateDataKey on resource: canary because no identity-based policy allows`,
      /KMS key may not/,
    ],
    [`${action} with an explicit deny in a service control policy`, /service control policy/],
    [`${action} because no service control policy allows the action`, /service control policy/],
    [`${action} with an explicit deny in a resource control policy`, /resource control policy/],
    [`${action} because no permissions boundary allows the action`, /permissions boundary/],
    [`${action} because no VPC endpoint policy allows the action`, /VPC endpoint/],
    [`${action} with an explicit deny in a resource-based policy`, /resource policy of the secret/],
    [`${action} because no session policy allows the action`, /session policy/],
    [`${user} sts:AssumeRole on resource: canary`, /role may not be assumed .*; check the trust policy/],
    [
      `${action} because no identity-based policy allows the action`,
      /permission denied .*; allow the action/,
    ],
  ])('without permission says which policy denies it: %s', (message, reason) => {
    const fault = faultOf(
      Object.assign(responded('AccessDeniedException', 400), { message }),
      'CreateSecret',
    );
    expect(fault.kind).toBe('forbidden');
    expect(fault.message).toMatch(reason);
    expect(fault.message).not.toContain('canary');
  });

  test('for a key that does not exist may pass', () => {
    const message = 'The operation failed because of an invalid KMS key: Invalid keyId';
    const error = Object.assign(responded('InvalidParameterException', 400), { message });
    expect(faultOf(error, 'CreateSecret')).toMatchObject({
      kind: 'rejected',
      mayPass: true,
      message: expect.stringMatching(/does not exist in this region .*; check kms_key_id/),
    });
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
