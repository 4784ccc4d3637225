import { createLocalJWKSet, errors, jwtVerify } from 'jose';
import type { Directory } from '../../directory/directory.ts';
import { issuerOf } from '../../directory/issue-token.ts';
import { VaultError } from './vault-error.ts';

/** What a token for the vaults of a cloud names as its audience: the host of all its vaults. */
export const audienceOf = (vaultHost: string): string => `https://${vaultHost.replace(/^[^.]+\./, '')}`;

/**
 * Verifies the bearer token of a request: signature, issuer, audience and time. Returns the client ID in it.
 * @throws VaultError Unauthorized
 */
export async function verifyToken(
  authorization: string | undefined,
  { directory, vaultHost, nowMs }: { directory: Directory; vaultHost: string; nowMs: number },
): Promise<string> {
  const token = /^Bearer (.+)$/i.exec(authorization ?? '')?.[1];
  if (token === undefined) throw unauthorized('AKV10000: Request is missing a Bearer or PoP token.');
  const audience = audienceOf(vaultHost);
  const { tenantId } = directory;
  try {
    const { payload } = await jwtVerify(token, createLocalJWKSet({ keys: directory.publishedKeys() }), {
      algorithms: ['RS256'],
      issuer: [issuerOf(tenantId, 1), issuerOf(tenantId, 2)],
      audience: [audience, `${audience}/`],
      currentDate: new Date(nowMs),
      clockTolerance: 300,
    });
    if (payload.tid !== tenantId) throw unauthorized('AKV10032: Invalid issuer.');
    return String(payload.appid ?? payload.azp);
  } catch (error) {
    if (error instanceof errors.JOSEError) throw unauthorized(reasonOf(error));
    throw error;
  }
}

function reasonOf(error: errors.JOSEError): string {
  if (error instanceof errors.JWTExpired) return 'AKV10046: The token has expired.';
  const claim = error instanceof errors.JWTClaimValidationFailed ? error.claim : undefined;
  if (claim === 'aud') return 'AKV10022: Invalid audience.';
  if (claim === 'iss') return 'AKV10032: Invalid issuer.';
  return 'AKV10046: Unable to resolve the key used for signature validation.';
}

const unauthorized = (message: string) => new VaultError(401, 'Unauthorized', message);
