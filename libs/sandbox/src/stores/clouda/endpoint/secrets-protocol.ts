import { randomUUID } from 'node:crypto';
import type { Answer, Dialect } from '../../../simulation/http-response.ts';
import { AwsRefusal } from '../aws-error.ts';
import { SignatureFault, type SignatureFaultKind } from '../signature-fault.ts';

/** The secrets service's protocol: AWS JSON 1.1. */

const codes: Record<SignatureFaultKind, string> = {
  missing: 'MissingAuthenticationTokenException',
  incomplete: 'IncompleteSignatureException',
  'unknown-key': 'UnrecognizedClientException',
  'bad-signature': 'InvalidSignatureException',
  'expired-token': 'ExpiredTokenException',
};

export function awsJson(status: number, content: object, headers: Record<string, string> = {}): Answer {
  return {
    status,
    headers: { 'content-type': 'application/x-amz-json-1.1', 'x-amzn-requestid': randomUUID(), ...headers },
    body: JSON.stringify(content),
  };
}

/** The answer to a refusal; what is no refusal is a fault of the sandbox and is thrown on. */
export function awsJsonRefusal(error: unknown): Answer {
  if (error instanceof AwsRefusal) return failure(error.status, error.code, error.message);
  if (error instanceof SignatureFault) return failure(400, codes[error.kind], error.message);
  throw error;
}

export const secretsDialect: Dialect = {
  failure,
  throttled: (retryAfterSeconds) => {
    const answer = failure(400, 'ThrottlingException', 'Rate exceeded');
    return retryAfterSeconds === undefined ? answer : withRetryAfter(answer, retryAfterSeconds);
  },
  serverError: () => failure(500, 'InternalServiceError', 'An error occurred on the server side.'),
  signatureRefused: () => failure(400, codes['bad-signature'], 'The request signature does not match.'),
};

function failure(status: number, code: string, message: string): Answer {
  return awsJson(status, { __type: code, Message: message }, { 'x-amzn-errortype': code });
}

function withRetryAfter(answer: Answer, seconds: number): Answer {
  return { ...answer, headers: { ...answer.headers, 'retry-after': String(seconds) } };
}
