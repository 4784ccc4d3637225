import { type ErrorResponses, type HttpResponse, retryAfter } from '../../../simulation/http-response.ts';
import { AuthenticationError, type AuthenticationErrorKind, AwsError } from '../aws-error.ts';

/** The errors of a protocol. */
interface Protocol {
  /** The code and the status of a signer that cannot be verified. */
  authentication: Record<AuthenticationErrorKind, string>;
  authenticationStatus: number;
  throttling: string;
  failure: string;
  respond(status: number, code: string, message: string, headers?: Record<string, string>): HttpResponse;
}

/** The responses of a protocol to failures. */
export const protocolErrors = ({ respond, ...protocol }: Protocol): ErrorResponses => {
  const refuse = (kind: AuthenticationErrorKind, message: string) =>
    respond(protocol.authenticationStatus, protocol.authentication[kind], message);
  return {
    own: (error) => {
      if (error instanceof AwsError) return respond(error.status, error.code, error.message);
      if (error instanceof AuthenticationError) return refuse(error.kind, error.message);
      return undefined;
    },
    error: (status, code, message) => respond(status, code, message),
    throttled: (seconds) => respond(400, protocol.throttling, 'Rate exceeded', retryAfter(seconds)),
    serverError: () => respond(500, protocol.failure, 'An error occurred on the server side.'),
    invalidSignature: () => refuse('bad-signature', 'The request signature does not match.'),
  };
};
