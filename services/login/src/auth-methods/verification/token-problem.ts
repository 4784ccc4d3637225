import { invalid, Problem } from '@secrets/domain';
import { errors } from 'jose';

const forbidden = (sentence: string): Problem => new Problem('forbidden', sentence);

/** The problem of a claim with a value that a mount does not accept. */
export const refusedClaim = (claim: string): Problem =>
  forbidden(`the token's ${claim} is not what this mount accepts`);

/** The problem of keys with which nothing can be verified. */
export const unusableKeys = (cause?: unknown): Problem =>
  new Problem('bad_gateway', "the directory's keys are not usable", { cause });

function asClaimProblem({ claim, reason }: errors.JWTClaimValidationFailed): Problem {
  if (reason === 'missing') return forbidden(`the token's ${claim} is missing`);
  return claim === 'nbf' ? forbidden('the token is not valid yet') : refusedClaim(claim);
}

/** Turns an error of the library into a problem that contains no part of the token. Returns any other error unchanged. */
export function asTokenProblem(error: unknown): unknown {
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
    return unusableKeys(error);
  if (error instanceof errors.JOSEError) return invalid('jwt: is not a signed token');
  return error;
}
