import { hash } from 'node:crypto';
import { Problem } from '@secrets/domain';
import type { Caller } from './caller.ts';
import type { InternalKeys } from './internal-keys.ts';
import { expiry, isExpired } from './signature-lifetime.ts';
import { isSignatureOf, signatureOf } from './signed-bytes.ts';

/** The header that carries the assertion to internal services. */
export const assertionHeader = 'x-caller-assertion';

const header = Buffer.from(JSON.stringify({ alg: 'HS256', typ: 'JWT' })).toString('base64url');

/** The request line to which an assertion is bound, and the services between which it is sent. */
export interface AssertedRequest {
  from: string;
  to: string;
  method: string;
  /** Path without the query. */
  path: string;
  /** As it is sent, with `?`; absent or empty if there is none. */
  query?: string | undefined;
}

/** An empty body and none are the same. */
type Body = string | Uint8Array | undefined;

/** Contents of an assertion whose signature has been verified. */
export interface VerifiedAssertion {
  caller: Caller;
  /** For `requireSignedBody`. */
  bodyDigest: string | undefined;
}

/**
 * Signs who the caller is, for one request and 30 seconds: a JWT (HS256) with the key of this direction.
 * Built directly on node:crypto because it runs at every request, and WebCrypto's switch to the thread pool costs more
 * than the signature itself.
 */
export function signAssertion(
  keys: InternalKeys,
  request: AssertedRequest & { body?: Body },
  caller: Caller,
): string {
  const payload = {
    iss: request.from,
    aud: request.to,
    exp: expiry(keys),
    req: `${request.method} ${request.path}`,
    query: digestOf(request.query),
    body: digestOf(request.body),
    caller,
  };
  const signed = `${header}.${Buffer.from(JSON.stringify(payload)).toString('base64url')}`;
  return `${signed}.${signatureOf(keys.keyFor(request.from, request.to), signed).toString('base64url')}`;
}

/**
 * Verifies an assertion before the body is read, and returns what it says. The body must then be passed to `requireSignedBody`.
 * @throws a problem (`forbidden`) if the assertion is missing, forged, expired or bound to another request
 */
export function verifyAssertion(
  keys: InternalKeys,
  assertion: string | undefined,
  request: AssertedRequest,
): VerifiedAssertion {
  const [head, body, signature] = (assertion ?? '').split('.');
  if (head !== header || body === undefined || signature === undefined) throw invalidAssertion();
  const key = keys.keyFor(request.from, request.to);
  if (!isSignatureOf(Buffer.from(signature, 'base64url'), key, `${head}.${body}`)) throw invalidAssertion();
  const payload = JSON.parse(Buffer.from(body, 'base64url').toString()) as Record<string, unknown>;
  const bound =
    payload.iss === request.from &&
    payload.aud === request.to &&
    payload.req === `${request.method} ${request.path}` &&
    payload.query === digestOf(request.query);
  if (isExpired(payload.exp, keys) || !bound) throw invalidAssertion();
  // The signature proves that `signAssertion` created the payload.
  return { caller: payload.caller as Caller, bodyDigest: payload.body as string | undefined };
}

/**
 * Requires that a body, as it was received, is the one that was signed.
 * @throws a problem (`forbidden`)
 */
export function requireSignedBody({ bodyDigest }: Pick<VerifiedAssertion, 'bodyDigest'>, body: Body): void {
  if (digestOf(body) !== bodyDigest) throw invalidAssertion();
}

const digestOf = (data: Body): string | undefined =>
  data === undefined || data.length === 0 ? undefined : hash('sha256', data, 'base64url');

/** A caller for requests that a service makes on its own behalf, such as those of sync-control to secrets. */
export const serviceCaller = (service: string, requestId: string): Caller => ({
  requestId,
  accessor: null,
  tokenType: null,
  displayName: service,
  entityId: null,
  policies: [],
  identityPolicies: [],
  tokenExpiresAt: null,
  namespace: { id: 'root', path: '' },
  tokenNamespace: { id: 'root', path: '' },
  grants: [],
  remoteAddress: '',
});

/** The problem of a request whose sender cannot be verified. */
export const invalidAssertion = () => new Problem('forbidden', 'the caller assertion is missing or invalid');
