import { errors } from 'jose';
import type { Directory } from '../../directory/directory.ts';
import { verifyAccessToken } from '../../directory/verify-access-token.ts';
import { VaultError } from './vault-error.ts';

/** Returns the audience of a token for the vaults of a cloud: the common domain of all its vaults, as a URL. */
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
  try {
    const claims = await verifyAccessToken(token, directory, { audience: [audienceOf(vaultHost)], nowMs });
    return String(claims.appid ?? claims.azp);
  } catch (error) {
    if (error instanceof errors.JOSEError) throw unauthorized(reasonOf(error));
    throw error;
  }
}

function reasonOf(error: errors.JOSEError): string {
  if (error instanceof errors.JWTExpired) return 'AKV10046: The token has expired.';
  const claim = error instanceof errors.JWTClaimValidationFailed ? error.claim : undefined;
  if (claim === 'aud') return 'AKV10022: Invalid audience.';
  if (claim === 'iss' || claim === 'tid') return 'AKV10032: Invalid issuer.';
  return 'AKV10046: Unable to resolve the key used for signature validation.';
}

const unauthorized = (message: string) => new VaultError(401, 'Unauthorized', message);
