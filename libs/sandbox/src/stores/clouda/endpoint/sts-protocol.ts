import { randomUUID } from 'node:crypto';
import type { Answer, Dialect } from '../../../simulation/http-response.ts';
import { AwsRefusal } from '../aws-error.ts';
import { SignatureFault, type SignatureFaultKind } from '../signature-fault.ts';

/** The token service's protocol: AWS query, answered in XML. */

const NAMESPACE = 'https://sts.amazonaws.com/doc/2011-06-15/';

const codes: Record<SignatureFaultKind, string> = {
  missing: 'MissingAuthenticationToken',
  incomplete: 'IncompleteSignature',
  'unknown-key': 'InvalidClientTokenId',
  'bad-signature': 'SignatureDoesNotMatch',
  'expired-token': 'ExpiredToken',
};

/** Elements by name; a text or more elements. */
export interface Elements {
  [name: string]: string | Elements;
}

/** A successful answer of `action` with its result. */
export function stsResult(action: string, result: Elements): Answer {
  const content = { [`${action}Result`]: result, ResponseMetadata: { RequestId: randomUUID() } };
  return document(200, `${action}Response`, content);
}

/** The answer to a refusal; what is no refusal is a fault of the sandbox and is thrown on. */
export function stsRefusal(error: unknown): Answer {
  if (error instanceof AwsRefusal) return failure(error.status, error.code, error.message);
  if (error instanceof SignatureFault) return failure(403, codes[error.kind], error.message);
  throw error;
}

export const stsDialect: Dialect = {
  failure,
  throttled: (retryAfterSeconds) => {
    const answer = failure(400, 'Throttling', 'Rate exceeded');
    if (retryAfterSeconds === undefined) return answer;
    return { ...answer, headers: { ...answer.headers, 'retry-after': String(retryAfterSeconds) } };
  },
  serverError: () => failure(500, 'InternalFailure', 'An error occurred on the server side.'),
  signatureRefused: () => failure(403, codes['bad-signature'], 'The request signature does not match.'),
};

function failure(status: number, code: string, message: string): Answer {
  const error = { Type: status < 500 ? 'Sender' : 'Receiver', Code: code, Message: message };
  return document(status, 'ErrorResponse', { Error: error, RequestId: randomUUID() });
}

function document(status: number, root: string, content: Elements): Answer {
  return {
    status,
    headers: { 'content-type': 'text/xml', 'x-amzn-requestid': randomUUID() },
    body: `<${root} xmlns="${NAMESPACE}">${xml(content)}</${root}>`,
  };
}

function xml(elements: Elements): string {
  return Object.entries(elements)
    .map(
      ([name, content]) =>
        `<${name}>${typeof content === 'string' ? escaped(content) : xml(content)}</${name}>`,
    )
    .join('');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
