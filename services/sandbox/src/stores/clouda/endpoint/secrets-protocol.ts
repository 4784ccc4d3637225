import { randomUUID } from 'node:crypto';
import type { HttpResponse } from '../../../simulation/http-response.ts';
import { protocolErrors } from './protocol-errors.ts';

// The protocol of the secrets manager: AWS JSON 1.1.

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

export const secretsErrors = protocolErrors({
  authentication: {
    missing: 'MissingAuthenticationTokenException',
    incomplete: 'IncompleteSignatureException',
    'unknown-key': 'UnrecognizedClientException',
    'bad-signature': 'InvalidSignatureException',
    'expired-token': 'ExpiredTokenException',
  },
  authenticationStatus: 400,
  throttling: 'ThrottlingException',
  failure: 'InternalServiceError',
  respond: (status, code, message, headers) =>
    secretsResponse(status, { __type: code, Message: message }, { 'x-amzn-errortype': code, ...headers }),
});
