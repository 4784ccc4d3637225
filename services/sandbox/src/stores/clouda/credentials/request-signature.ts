import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { createScope, getCanonicalHeaders, getCanonicalQuery } from '@smithy/signature-v4';
import { AuthenticationError } from '../aws-error.ts';
import type { AccessKeys, Signer } from './access-keys.ts';
import { signingKey } from './signing-key-cache.ts';

const ALGORITHM = 'AWS4-HMAC-SHA256';
const CLOCK_SKEW_MS = 5 * 60 * 1000;
const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([A-Za-z0-9]{4,128})\/(\d{8})\/([a-z0-9-]{1,64})\/([a-z0-9-]{1,64})\/aws4_request, ?SignedHeaders=([a-z0-9;_-]{1,4096}), ?Signature=([0-9a-f]{64})$/;

/** A request as it was received, with its raw body. */
export interface SignedRequest {
  method: string;
  /** Path and query as received. */
  url: string;
  headers: Record<string, string>;
  body: Buffer;
}

/** The content of an `Authorization` header. It is unverified. */
export interface Authorization {
  accessKeyId: string;
  date: string;
  region: string;
  service: string;
  signedHeaders: string[];
  signature: string;
}

/** Parses an `Authorization` header. Returns undefined if it is missing or malformed. */
export function parseAuthorization(header: string | undefined): Authorization | undefined {
  const match = AUTHORIZATION.exec(header ?? '');
  if (!match) return undefined;
  const [, accessKeyId = '', date = '', region = '', service = '', headers = '', signature = ''] = match;
  return { accessKeyId, date, region, service, signedHeaders: headers.split(';'), signature };
}

/**
 * Verifies the signature of a request and returns its signer.
 * Implements Signature Version 4 in the `Authorization` header, as in the provider's signing reference. Presigned URLs are
 * not supported.
 * @throws AuthenticationError
 */
export async function verifySignature(
  request: SignedRequest,
  authorization: Authorization | undefined,
  { keys, service, nowMs }: { keys: AccessKeys; service: string; nowMs: number },
): Promise<Signer> {
  if (!authorization) throw malformedHeader(request.headers.authorization);
  if (authorization.service !== service)
    throw badSignature(`Credential should be scoped to correct service: '${service}'.`);
  const signedAt = requireRecentDate(request, authorization);
  requireSignedHeaders(request, authorization);
  const signer = keys.signer(authorization.accessKeyId, request.headers['x-amz-security-token'], nowMs);
  const expected = await signatureOf(request, authorization, signer, signedAt);
  if (timingSafeEqual(expected, Buffer.from(authorization.signature, 'hex'))) return signer;
  throw badSignature(
    'The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method.',
  );
}

const badSignature = (message: string) => new AuthenticationError('bad-signature', message);

function malformedHeader(header: string | undefined): AuthenticationError {
  if (header === undefined) return new AuthenticationError('missing', 'Missing Authentication Token');
  return new AuthenticationError('incomplete', 'Authorization header could not be read.');
}

function requireRecentDate({ headers }: SignedRequest, authorization: Authorization): string {
  const signedAt = headers['x-amz-date'] ?? '';
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(signedAt) ?? [];
  const signedAtMs = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  if (Number.isNaN(signedAtMs))
    throw new AuthenticationError('incomplete', "Authorization header requires 'X-Amz-Date'.");
  if (!signedAt.startsWith(authorization.date))
    throw badSignature('Date in Credential scope does not match YYYYMMDD from X-Amz-Date.');
  if (Math.abs(Date.now() - signedAtMs) > CLOCK_SKEW_MS) {
    throw badSignature(`Signature expired: ${signedAt} is more than 5 min. from now.`);
  }
  return signedAt;
}

/** Requires that the signature covers the host and every `x-amz-` header that affects the request. */
function requireSignedHeaders({ headers }: SignedRequest, { signedHeaders }: Authorization): void {
  const signed = new Set(signedHeaders);
  const required = ['host', 'x-amz-date', 'x-amz-target', 'x-amz-security-token'].filter(
    (name) => name in headers,
  );
  if (required.every((name) => signed.has(name))) return;
  throw badSignature("'Host' and every 'X-Amz-' header must be a 'SignedHeader' in the AWS Authorization.");
}

async function signatureOf(
  request: SignedRequest,
  authorization: Authorization,
  signer: Signer,
  signedAt: string,
): Promise<Buffer> {
  const key = await signingKey(signer, authorization.date, authorization.region, authorization.service);
  const scope = createScope(authorization.date, authorization.region, authorization.service);
  const canonical = createHash('sha256').update(canonicalRequest(request, authorization)).digest('hex');
  return createHmac('sha256', key).update(`${ALGORITHM}\n${signedAt}\n${scope}\n${canonical}`).digest();
}

function canonicalRequest(
  { method, url, headers, body }: SignedRequest,
  { signedHeaders }: Authorization,
): string {
  const [path = '/', query = ''] = url.split('?', 2);
  const parts = { method, protocol: 'http:', hostname: '', path, query: queryParameters(query), headers };
  const canonical = getCanonicalHeaders(parts, undefined, new Set(signedHeaders));
  return [
    method,
    path.split('/').map(encodeURIComponent).join('/'),
    getCanonicalQuery(parts),
    ...signedHeaders.map((name) => `${name}:${canonical[name] ?? ''}`),
    '',
    signedHeaders.join(';'),
    createHash('sha256').update(body).digest('hex'),
  ].join('\n');
}

function queryParameters(query: string): Record<string, string[]> {
  const pairs = new URLSearchParams(query);
  return Object.fromEntries([...new Set(pairs.keys())].map((name) => [name, pairs.getAll(name)]));
}
