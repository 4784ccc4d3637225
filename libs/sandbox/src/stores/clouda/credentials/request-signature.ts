import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { createScope, getCanonicalHeaders, getCanonicalQuery } from '@smithy/signature-v4';
import { SignatureFault } from '../signature-fault.ts';
import type { AccessKeys, Signer } from './access-keys.ts';
import { derivedKey } from './signing-key-cache.ts';

const ALGORITHM = 'AWS4-HMAC-SHA256';
const CLOCK_SKEW_MS = 5 * 60 * 1000;
const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([A-Za-z0-9]{4,128})\/(\d{8})\/([a-z0-9-]{1,64})\/([a-z0-9-]{1,64})\/aws4_request, ?SignedHeaders=([a-z0-9;_-]{1,4096}), ?Signature=([0-9a-f]{64})$/;

/** A request as it arrived, with its body untouched. */
export interface SignedRequest {
  method: string;
  /** Path and query as they were on the wire. */
  url: string;
  headers: Record<string, string>;
  body: Buffer;
}

/** What a request says of itself in its `Authorization` header; nothing of it is proven. */
export interface Claim {
  accessKeyId: string;
  date: string;
  region: string;
  service: string;
  signedHeaders: string[];
  signature: string;
}

/** Reads the `Authorization` header; undefined when there is none that can be read. */
export function readClaim(authorization: string | undefined): Claim | undefined {
  const match = AUTHORIZATION.exec(authorization ?? '');
  if (!match) return undefined;
  const [, accessKeyId = '', date = '', region = '', service = '', headers = '', signature = ''] = match;
  return { accessKeyId, date, region, service, signedHeaders: headers.split(';'), signature };
}

/**
 * Computes the request's signature anew and answers who made it.
 * Signature Version 4, header form, of the provider's signing reference; presigned URLs are not accepted.
 * @throws SignatureFault
 */
export async function verifySignature(
  request: SignedRequest,
  claim: Claim | undefined,
  { keys, service, nowMs }: { keys: AccessKeys; service: string; nowMs: number },
): Promise<Signer> {
  if (!claim) throw unreadable(request.headers.authorization);
  if (claim.service !== service)
    throw refused(`Credential should be scoped to correct service: '${service}'.`);
  const signedAt = mustBeTimely(request, claim);
  mustSignEnough(request, claim);
  const signer = keys.signer(claim.accessKeyId, request.headers['x-amz-security-token'], nowMs);
  const expected = await signatureOf(request, claim, signer, signedAt);
  if (timingSafeEqual(expected, Buffer.from(claim.signature, 'hex'))) return signer;
  throw refused(
    'The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method.',
  );
}

const refused = (message: string) => new SignatureFault('bad-signature', message);

function unreadable(authorization: string | undefined): SignatureFault {
  if (authorization === undefined) return new SignatureFault('missing', 'Missing Authentication Token');
  return new SignatureFault('incomplete', 'Authorization header could not be read.');
}

function mustBeTimely({ headers }: SignedRequest, claim: Claim): string {
  const signedAt = headers['x-amz-date'] ?? '';
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(signedAt) ?? [];
  const signedAtMs = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  if (Number.isNaN(signedAtMs))
    throw new SignatureFault('incomplete', "Authorization header requires 'X-Amz-Date'.");
  if (!signedAt.startsWith(claim.date))
    throw refused('Date in Credential scope does not match YYYYMMDD from X-Amz-Date.');
  if (Math.abs(Date.now() - signedAtMs) > CLOCK_SKEW_MS) {
    throw refused(`Signature expired: ${signedAt} is more than 5 min. from now.`);
  }
  return signedAt;
}

/** The host and every `x-amz-` header that decides anything must be under the signature. */
function mustSignEnough({ headers }: SignedRequest, { signedHeaders }: Claim): void {
  const signed = new Set(signedHeaders);
  const wanted = ['host', 'x-amz-date', 'x-amz-target', 'x-amz-security-token'].filter(
    (name) => name in headers,
  );
  if (wanted.every((name) => signed.has(name))) return;
  throw refused("'Host' and every 'X-Amz-' header must be a 'SignedHeader' in the AWS Authorization.");
}

async function signatureOf(
  request: SignedRequest,
  claim: Claim,
  signer: Signer,
  signedAt: string,
): Promise<Buffer> {
  const key = await derivedKey(signer, claim.date, claim.region, claim.service);
  const scope = createScope(claim.date, claim.region, claim.service);
  const canonical = createHash('sha256').update(canonicalRequest(request, claim)).digest('hex');
  return createHmac('sha256', key).update(`${ALGORITHM}\n${signedAt}\n${scope}\n${canonical}`).digest();
}

function canonicalRequest({ method, url, headers, body }: SignedRequest, { signedHeaders }: Claim): string {
  const [path = '/', query = ''] = url.split('?', 2);
  const parts = { method, protocol: 'http:', hostname: '', path, query: queryOf(query), headers };
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

function queryOf(query: string): Record<string, string[]> {
  const pairs = new URLSearchParams(query);
  return Object.fromEntries([...new Set(pairs.keys())].map((name) => [name, pairs.getAll(name)]));
}
