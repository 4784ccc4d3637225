import { randomUUID } from 'node:crypto';
import { type ErrorResponses, type HttpResponse, retryAfter } from '../../../simulation/http-response.ts';
import { AuthenticationError, type AuthenticationErrorKind, AwsError } from '../aws-error.ts';

// The protocol of the secrets manager: AWS JSON 1.1.

const codes: Record<AuthenticationErrorKind, string> = {
  missing: 'MissingAuthenticationTokenException',
  incomplete: 'IncompleteSignatureException',
  'unknown-key': 'UnrecognizedClientException',
  'bad-signature': 'InvalidSignatureException',
  'expired-token': 'ExpiredTokenException',
};

export function secretsResponse(
  status: number,
  content: object,
  headers: Record<string, string> = {},
): HttpResponse {
  return {
    status,
    headers: { 'content-type': 'application/x-amz-json-1.1', 'x-amzn-requestid': randomUUID(), ...headers },
    body: JSON.stringify(content),
  };
}

export const secretsErrors: ErrorResponses = {
  own: (error) => {
    if (error instanceof AwsError) return errorResponse(error.status, error.code, error.message);
    if (error instanceof AuthenticationError) return errorResponse(400, codes[error.kind], error.message);
    return undefined;
  },
  error: errorResponse,
  throttled: (seconds) => errorResponse(400, 'ThrottlingException', 'Rate exceeded', retryAfter(seconds)),
  serverError: () => errorResponse(500, 'InternalServiceError', 'An error occurred on the server side.'),
  invalidSignature: () => errorResponse(400, codes['bad-signature'], 'The request signature does not match.'),
};

function errorResponse(
  status: number,
  code: string,
  message: string,
  headers: Record<string, string> = {},
): HttpResponse {
  return secretsResponse(
    status,
    { __type: code, Message: message },
    { 'x-amzn-errortype': code, ...headers },
  );
}
