import { randomUUID } from 'node:crypto';
import type { HttpResponse } from '../../../simulation/http-response.ts';
import { protocolErrors } from './protocol-errors.ts';

// The protocol of the token service: AWS Query, with responses in XML.

const NAMESPACE = 'https://sts.amazonaws.com/doc/2011-06-15/';

/** XML elements by name; each contains text or further elements. */
export interface Elements {
  [name: string]: string | Elements;
}

/** The response to a successful `action`. */
export function stsResponse(action: string, result: Elements): HttpResponse {
  const content = { [`${action}Result`]: result, ResponseMetadata: { RequestId: randomUUID() } };
  return xmlResponse(200, `${action}Response`, content);
}

export const stsErrors = protocolErrors({
  authentication: {
    missing: 'MissingAuthenticationToken',
    incomplete: 'IncompleteSignature',
    'unknown-key': 'InvalidClientTokenId',
    'bad-signature': 'SignatureDoesNotMatch',
    'expired-token': 'ExpiredToken',
  },
  authenticationStatus: 403,
  throttling: 'Throttling',
  failure: 'InternalFailure',
  respond: (status, code, message, headers) => {
    const error = { Type: status < 500 ? 'Sender' : 'Receiver', Code: code, Message: message };
    return xmlResponse(status, 'ErrorResponse', { Error: error, RequestId: randomUUID() }, headers);
  },
});

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
