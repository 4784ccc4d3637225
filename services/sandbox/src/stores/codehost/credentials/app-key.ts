import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { errors, jwtVerify } from 'jose';
import { unauthenticated } from '../codehost-error.ts';

const maxLifetimeSeconds = 600;

/** Returns a new private key in the format in which the code host offers it for download: PKCS#1. */
export function generateAppKey(): string {
  const format = { type: 'pkcs1', format: 'pem' } as const;
  return generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: format,
    publicKeyEncoding: format,
  }).privateKey;
}

/**
 * Verifies the JWT with which an application authenticates: RS256, issued by the application, not in the future, and
 * valid for at most ten minutes. Times are checked against the system clock.
 * @throws CodehostError 401 with the service's own sentence
 */
export async function verifyAppJwt(
  jwt: string,
  { appId, privateKey }: { appId: string; privateKey: string },
): Promise<void> {
  const key = createPublicKey(privateKey);
  const nowSeconds = Date.now() / 1000;
  const { payload } = await jwtVerify(jwt, key, { algorithms: ['RS256'] }).catch((error: unknown) => {
    throw unauthenticated(error instanceof errors.JWTExpired ? expired : undecodable);
  });
  if (String(payload.iss) !== appId) throw unauthenticated("'Issuer' claim ('iss') must be an Integer");
  if (typeof payload.iat !== 'number' || payload.iat > nowSeconds + 1) throw unauthenticated(notIssued);
  if (typeof payload.exp !== 'number') throw unauthenticated(expired);
  if (payload.exp - nowSeconds > maxLifetimeSeconds) throw unauthenticated(tooLong);
}

const undecodable = 'A JSON web token could not be decoded';
const expired =
  "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires";
const tooLong = "'Expiration time' claim ('exp') is too far in the future";
const notIssued =
  "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued";
