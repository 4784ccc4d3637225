import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { Problem } from '@secrets/domain';
import type { Caller } from './caller.ts';
import type { InternalKeys } from './internal-keys.ts';

/** The header that carries the assertion inward. */
export const assertionHeader = 'x-caller-assertion';

const lifetimeSeconds = 30;
const leewaySeconds = 5;
const header = Buffer.from(JSON.stringify({ alg: 'HS256', typ: 'JWT' })).toString('base64url');

/** One request from one service to another: what the assertion is bound to. */
export interface AssertedRequest {
  from: string;
  to: string;
  method: string;
  /** Path without the query. */
  path: string;
}

/**
 * Signs, for 30 seconds and this one request, who the caller is: a JWT (HS256) with the key of this direction.
 * Made by hand on node:crypto, since it is made and checked at every request and WebCrypto's hop through the
 * thread pool costs more than the whole signature.
 */
export function signAssertion(keys: InternalKeys, request: AssertedRequest, caller: Caller): string {
  const now = Math.floor(Date.now() / 1000);
  const payload = {
    iss: request.from,
    aud: request.to,
    exp: now + lifetimeSeconds,
    req: `${request.method} ${request.path}`,
    caller,
  };
  const signed = `${header}.${Buffer.from(JSON.stringify(payload)).toString('base64url')}`;
  return `${signed}.${mac(keys.keyFor(request.from, request.to), signed).toString('base64url')}`;
}

/** The caller of a request, or a problem (`forbidden`) when the assertion is absent, false, expired or made for another request. */
export function verifyAssertion(
  keys: InternalKeys,
  assertion: string | undefined,
  request: AssertedRequest,
): Caller {
  const [head, body, signature] = (assertion ?? '').split('.');
  if (head !== header || body === undefined || signature === undefined) throw refused();
  const expected = mac(keys.keyFor(request.from, request.to), `${head}.${body}`);
  const given = Buffer.from(signature, 'base64url');
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) throw refused();
  const payload = JSON.parse(Buffer.from(body, 'base64url').toString()) as Record<string, unknown>;
  const expired = typeof payload.exp !== 'number' || payload.exp + leewaySeconds < Date.now() / 1000;
  const bound =
    payload.iss === request.from &&
    payload.aud === request.to &&
    payload.req === `${request.method} ${request.path}`;
  if (expired || !bound) throw refused();
  return payload.caller as Caller; // signed by us: its shape was checked by the compiler where it was made
}

/** A caller for a service's own errands, such as sync-control asking secrets. */
export const serviceCaller = (service: string, requestId: string): Caller => ({
  requestId,
  accessor: null,
  tokenType: null,
  displayName: service,
  entityId: null,
  policies: [],
  namespace: { id: 'root', path: '' },
  tokenNamespace: { id: 'root', path: '' },
  grants: [],
  remoteAddress: '',
});

const mac = (key: Buffer, text: string): Buffer =>
  createHmac('sha256', keyObjectOf(key)).update(text).digest();

const keyObjects = new WeakMap<Buffer, KeyObject>();

/** Making an HMAC from plain bytes costs seven times as much as the HMAC: the key is turned into an object once. */
function keyObjectOf(key: Buffer): KeyObject {
  const known = keyObjects.get(key) ?? createSecretKey(key);
  keyObjects.set(key, known);
  return known;
}

const refused = () => new Problem('forbidden', 'the caller assertion is missing or not valid');
