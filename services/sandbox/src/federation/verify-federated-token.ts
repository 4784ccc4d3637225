import { createLocalJWKSet, decodeJwt, errors, type JSONWebKeySet, type JWTPayload, jwtVerify } from 'jose';
import { z } from 'zod';
import type { FederatedCredential } from './federated-credential.ts';

/** Why a token is refused. */
export type TokenRefusal =
  | 'malformed'
  | 'issuer'
  | 'unreachable'
  | 'signature'
  | 'expired'
  | 'audience'
  | 'subject';

export class FederatedTokenError extends Error {
  readonly reason: TokenRefusal;

  constructor(reason: TokenRefusal) {
    super(reason);
    this.name = 'FederatedTokenError';
    this.reason = reason;
  }
}

const timeoutMs = 5_000;
const clockToleranceSeconds = 60;
const Discovery = z.object({ issuer: z.string(), jwks_uri: z.url({ protocol: /^https?$/ }) });
const Keys = z.object({ keys: z.array(z.record(z.string(), z.unknown())) });

/**
 * Verifies a token as the providers do: its issuer must be one that is registered, whose discovery document and keys are fetched;
 * signature, time, audience and subject must be right. Returns the credential that it matches.
 * @throws FederatedTokenError
 */
export async function verifyFederatedToken(
  token: string,
  registered: readonly FederatedCredential[],
  nowMs: number,
): Promise<FederatedCredential & { claims: JWTPayload }> {
  const issuer = issuerIn(token);
  const ofIssuer = registered.filter((credential) => credential.issuer === issuer);
  if (ofIssuer.length === 0) throw new FederatedTokenError('issuer');
  const claims = await verified(token, ofIssuer[0]!.issuer, nowMs);
  const audiences = [claims.aud].flat();
  const ofAudience = ofIssuer.filter(({ audience }) => audiences.includes(audience));
  if (ofAudience.length === 0) throw new FederatedTokenError('audience');
  const match = ofAudience.find(({ subject }) => subject === claims.sub);
  if (match === undefined) throw new FederatedTokenError('subject');
  return { ...match, claims };
}

/** Why a token is refused; undefined if it is accepted. */
export const whyTokenRefused = (
  ...token: Parameters<typeof verifyFederatedToken>
): Promise<TokenRefusal | undefined> =>
  verifyFederatedToken(...token).then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof FederatedTokenError) return error.reason;
      throw error;
    },
  );

function issuerIn(token: string): string | undefined {
  try {
    return decodeJwt(token).iss;
  } catch {
    throw new FederatedTokenError('malformed');
  }
}

async function verified(token: string, issuer: string, nowMs: number): Promise<JWTPayload> {
  const keys = await keysOf(issuer);
  try {
    const { payload } = await jwtVerify(token, createLocalJWKSet(keys), {
      algorithms: ['RS256'],
      issuer,
      requiredClaims: ['sub', 'aud', 'iat', 'exp'],
      currentDate: new Date(nowMs),
      clockTolerance: clockToleranceSeconds,
    });
    return payload;
  } catch (error) {
    throw new FederatedTokenError(error instanceof errors.JWTExpired ? 'expired' : 'signature');
  }
}

async function keysOf(issuer: string): Promise<JSONWebKeySet> {
  const discovery = await documentAt(`${issuer}/.well-known/openid-configuration`, Discovery);
  if (discovery.issuer !== issuer) throw new FederatedTokenError('issuer');
  return (await documentAt(discovery.jwks_uri, Keys)) as JSONWebKeySet;
}

async function documentAt<Schema extends z.ZodType>(url: string, schema: Schema): Promise<z.infer<Schema>> {
  try {
    const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(timeoutMs) });
    if (response.ok) return schema.parse(await response.json());
  } catch {
    // the same as a response that is not a document
  }
  throw new FederatedTokenError('unreachable');
}
