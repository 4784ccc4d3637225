import { invalid, Problem } from '@secrets/domain';
import { decodeProtectedHeader, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { repeatedName } from '../../../repeated-name.ts';
import type { ConfigSettings } from '../config/config-settings.ts';
import { issuersOf } from './environments.ts';

const maxBytes = 65_536;
const leewaySeconds = 60;

/**
 * Verifies that the tenant's directory signed a token (with RS256) for the configured resource and that it is valid now
 * (docs/conventions.md#34-verification-of-the-jwt). Returns its payload. Throws `invalid` if it is malformed or over 64 KiB,
 * `forbidden` with the failed check, and what `fetchDocument` throws if the keys cannot be fetched. No message contains a
 * part of the token.
 */
export async function verifyDirectoryToken(
  token: string,
  keys: JWTVerifyGetKey,
  config: Pick<ConfigSettings, 'environment' | 'tenant_id' | 'resource'>,
): Promise<JWTPayload> {
  if (Buffer.byteLength(token) > maxBytes) throw invalid('jwt: exceeds 64 KiB');
  refuseMalformed(token);
  const bare = config.resource.replace(/\/$/, '');
  try {
    const { payload } = await jwtVerify(token, keys, {
      algorithms: ['RS256'],
      issuer: issuersOf(config.environment, config.tenant_id),
      audience: [bare, `${bare}/`],
      clockTolerance: leewaySeconds,
      requiredClaims: ['exp', 'tid', 'oid'],
    });
    refuseRepeatedNames(token);
    if (!isTenant(payload.tid, config.tenant_id)) throw refusedClaim('tid');
    return payload;
  } catch (error) {
    throw asProblem(error);
  }
}

function refuseMalformed(token: string): void {
  try {
    const { kid, alg } = decodeProtectedHeader(token);
    if (typeof alg !== 'string') throw invalid('jwt: does not name an algorithm');
    if (alg === 'RS256' && typeof kid !== 'string') throw invalid('jwt: does not name a key');
  } catch (error) {
    throw error instanceof Problem ? error : malformed();
  }
}

const isTenant = (tid: unknown, tenant: string): boolean =>
  typeof tid === 'string' && tid.toLowerCase() === tenant.toLowerCase();

/** Parsers differ in which of two claims of one name they take, so a token that has two is refused, even if it is signed. */
function refuseRepeatedNames(token: string): void {
  const [header = '', payload = ''] = token.split('.');
  const hasRepeated = [header, payload].some(
    (part) => repeatedName(Buffer.from(part, 'base64url').toString()) !== undefined,
  );
  if (hasRepeated) throw invalid('jwt: contains a name twice');
}

const malformed = (): Problem => invalid('jwt: is not a signed token');
const forbidden = (sentence: string): Problem => new Problem('forbidden', sentence);
const refusedClaim = (claim: string): Problem =>
  forbidden(`the token's ${claim} is not what this mount accepts`);

function asClaimProblem({ claim, reason }: errors.JWTClaimValidationFailed): Problem {
  if (reason === 'missing') return forbidden(`the token's ${claim} is missing`);
  return claim === 'nbf' ? forbidden('the token is not valid yet') : refusedClaim(claim);
}

function asProblem(error: unknown): unknown {
  if (error instanceof errors.JOSEAlgNotAllowed) return forbidden("the token's algorithm is not accepted");
  if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys)
    return forbidden("the token's key is not one of the directory's");
  if (error instanceof errors.JWSSignatureVerificationFailed)
    return forbidden("the token's signature is not valid");
  if (error instanceof errors.JWTExpired) return forbidden('the token has expired');
  if (error instanceof errors.JWTClaimValidationFailed) return asClaimProblem(error);
  if (error instanceof errors.JWKSTimeout)
    return new Problem('unavailable', 'the directory does not respond', { cause: error });
  if (
    error instanceof errors.JWKSInvalid ||
    (error instanceof errors.JOSEError && error.code === 'ERR_JOSE_GENERIC')
  )
    return new Problem('bad_gateway', "the directory's keys are not usable", { cause: error });
  if (error instanceof errors.JOSEError) return malformed();
  return error;
}
