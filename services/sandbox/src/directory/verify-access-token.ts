import { createLocalJWKSet, errors, type JWTPayload, jwtVerify } from 'jose';
import type { Directory } from './directory.ts';
import { issuerOf } from './issue-token.ts';

/**
 * Verifies an access token of the directory as a service that accepts such tokens does: signature, issuer, tenant,
 * audience and time. Returns its claims.
 * @param audience without a trailing slash, which the claim may have
 * @throws JOSEError
 */
export async function verifyAccessToken(
  token: string,
  { tenantId, publishedKeys }: Directory,
  { audience, nowMs }: { audience: readonly string[]; nowMs: number },
): Promise<JWTPayload> {
  const { payload } = await jwtVerify(token, createLocalJWKSet({ keys: publishedKeys() }), {
    algorithms: ['RS256'],
    issuer: [issuerOf(tenantId, 1), issuerOf(tenantId, 2)],
    audience: audience.flatMap((one) => [one, `${one}/`]),
    currentDate: new Date(nowMs),
    clockTolerance: 300,
  });
  if (payload.tid !== tenantId)
    throw new errors.JWTClaimValidationFailed('unexpected "tid" claim value', payload, 'tid', 'check_failed');
  return payload;
}
