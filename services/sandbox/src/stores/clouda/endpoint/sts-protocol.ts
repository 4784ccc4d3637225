import { randomUUID } from 'node:crypto';
import { type ErrorResponses, type HttpResponse, retryAfter } from '../../../simulation/http-response.ts';
import { AuthenticationError, type AuthenticationErrorKind, AwsError } from '../aws-error.ts';

// The protocol of the token service: AWS Query, with responses in XML.

const NAMESPACE = 'https://sts.amazonaws.com/doc/2011-06-15/';

const codes: Record<AuthenticationErrorKind, string> = {
  missing: 'MissingAuthenticationToken',
  incomplete: 'IncompleteSignature',
  'unknown-key': 'InvalidClientTokenId',
  'bad-signature': 'SignatureDoesNotMatch',
  'expired-token': 'ExpiredToken',
};

/** XML elements by name; each contains text or further elements. */
export interface Elements {
  [name: string]: string | Elements;
}

/** The response to a successful `action`. */
export function stsResponse(action: string, result: Elements): HttpResponse {
  const content = { [`${action}Result`]: result, ResponseMetadata: { RequestId: randomUUID() } };
  return xmlResponse(200, `${action}Response`, content);
}

export const stsErrors: ErrorResponses = {
  own: (error) => {
    if (error instanceof AwsError) return errorResponse(error.status, error.code, error.message);
    if (error instanceof AuthenticationError) return errorResponse(403, codes[error.kind], error.message);
    return undefined;
  },
  error: errorResponse,
  throttled: (seconds) => errorResponse(400, 'Throttling', 'Rate exceeded', retryAfter(seconds)),
  serverError: () => errorResponse(500, 'InternalFailure', 'An error occurred on the server side.'),
  invalidSignature: () => errorResponse(403, codes['bad-signature'], 'The request signature does not match.'),
};

function errorResponse(
  status: number,
  code: string,
  message: string,
  headers: Record<string, string> = {},
): HttpResponse {
  const error = { Type: status < 500 ? 'Sender' : 'Receiver', Code: code, Message: message };
  return xmlResponse(status, 'ErrorResponse', { Error: error, RequestId: randomUUID() }, headers);
}

function xmlResponse(
  status: number,
  root: string,
  content: Elements,
  headers: Record<string, string> = {},
): HttpResponse {
  return {
    status,
    headers: { 'content-type': 'text/xml', 'x-amzn-requestid': randomUUID(), ...headers },
    body: `<${root} xmlns="${NAMESPACE}">${xml(content)}</${root}>`,
  };
}

function xml(elements: Elements): string {
  return Object.entries(elements)
    .map(
      ([name, content]) =>
        `<${name}>${typeof content === 'string' ? escapeXml(content) : xml(content)}</${name}>`,
    )
    .join('');
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
