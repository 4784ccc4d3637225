import { excessOf, invalid, Problem, repeatedName } from '@secrets/domain';
import {
  compactVerify,
  decodeJwt,
  decodeProtectedHeader,
  errors,
  type JWTClaimVerificationOptions,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyResult,
  jwtVerify,
  UnsecuredJWT,
} from 'jose';
import type { ConfigSettings } from '../config/config-settings.ts';
import { issuersOf } from './environments.ts';

const maxBytes = 65_536;
const leewaySeconds = 60;
const algorithms = ['RS256'];

/** A rule that the claims of every token must meet. */
export interface ClaimRule {
  check: string;
  claims: readonly string[];
  options: JWTClaimVerificationOptions;
}

type Expected = Pick<ConfigSettings, 'environment' | 'tenant_id' | 'resource'>;

/** The rules about the claims of a token, of which `tid` has another one besides. */
export function claimRules(config: Expected, now: Date): ClaimRule[] {
  const bare = config.resource.replace(/\/$/, '');
  return [
    {
      check: 'the directory of the tenant issued the token',
      claims: ['iss'],
      options: { issuer: issuersOf(config.environment, config.tenant_id) },
    },
    {
      check: 'the token is for the configured resource',
      claims: ['aud'],
      options: { audience: [bare, `${bare}/`] },
    },
    {
      check: 'the token is valid now',
      claims: ['exp', 'nbf'],
      options: { requiredClaims: ['exp'], clockTolerance: leewaySeconds, currentDate: now },
    },
    { check: 'the token is of the tenant', claims: ['tid'], options: { requiredClaims: ['tid'] } },
    { check: 'the token names a principal', claims: ['oid'], options: { requiredClaims: ['oid'] } },
  ];
}

/**
 * Verifies that the tenant's directory signed a token (with RS256) for the configured resource and that it is valid now
 * (docs/conventions/cloudb.md#verification-of-the-jwt). Returns its header and payload. Throws `invalid` if it is malformed or
 * over 64 KiB, `forbidden` with the failed check, and what `fetchDocument` throws if the keys cannot be fetched. No message
 * contains a part of the token.
 */
export async function verifyDirectoryToken(
  token: string,
  keys: JWTVerifyGetKey,
  config: Expected,
  now: Date,
): Promise<JWTVerifyResult> {
  refuseMalformed(token);
  const rules = claimRules(config, now).map(({ options }) => options);
  const requiredClaims = rules.flatMap((rule) => rule.requiredClaims ?? []);
  try {
    const verified = await jwtVerify(token, usable(keys), {
      algorithms,
      ...Object.assign({}, ...rules),
      requiredClaims,
    });
    refuseRepeatedNames(token);
    requireTenant(verified.payload, config);
    return verified;
  } catch (error) {
    throw asProblem(error);
  }
}

/** Verifies only that the directory signed a token, in the same way. */
export async function verifySignature(token: string, keys: JWTVerifyGetKey): Promise<void> {
  refuseMalformed(token);
  try {
    await compactVerify(token, usable(keys), { algorithms });
    refuseRepeatedNames(token);
  } catch (error) {
    throw asProblem(error);
  }
}

/** The claims of a token that is not verified. Throws `invalid` if it is malformed. */
export function unverifiedPayload(token: string): JWTPayload {
  refuseMalformed(token);
  try {
    return decodeJwt(token);
  } catch (error) {
    throw asProblem(error);
  }
}

/** Checks the claims that a rule is about, whatever the others are. Throws `forbidden` with the claim that failed. */
export function requireClaims(payload: JWTPayload, { claims, options }: ClaimRule, config: Expected): void {
  const own = Object.fromEntries(Object.entries(payload).filter(([name]) => claims.includes(name)));
  try {
    UnsecuredJWT.decode(new UnsecuredJWT(own).encode(), options);
    if (claims.includes('tid')) requireTenant(payload, config);
  } catch (error) {
    throw asProblem(error);
  }
}

/** Minimum size of an RSA key: https://www.rfc-editor.org/rfc/rfc7518#section-3.3 */
const leastModulusBits = 2_048;

/** Refuses keys that the library would report as a fault of this program: damaged ones, and ones that are too short. */
const usable =
  (keys: JWTVerifyGetKey): JWTVerifyGetKey =>
  async (header, token) => {
    const key = await findKey(keys, header, token);
    if (modulusBits(key) < leastModulusBits) throw unusableKeys();
    return key;
  };

async function findKey(keys: JWTVerifyGetKey, ...of: Parameters<JWTVerifyGetKey>) {
  try {
    return await keys(...of);
  } catch (error) {
    throw error instanceof Problem || error instanceof errors.JOSEError ? error : unusableKeys(error);
  }
}

const modulusBits = (key: unknown): number =>
  (key as { algorithm?: { modulusLength?: number } }).algorithm?.modulusLength ?? 0;

const unusableKeys = (cause?: unknown): Problem =>
  new Problem('bad_gateway', "the directory's keys are not usable", { cause });

function requireTenant({ tid }: JWTPayload, { tenant_id }: Expected): void {
  if (typeof tid !== 'string' || tid.toLowerCase() !== tenant_id.toLowerCase()) throw refusedClaim('tid');
}

/**
 * Limits for the header and the claims: the directory names at most 200 groups in a token. Counted before the header is
 * parsed, which is not signed yet.
 */
const budget = { depth: 16, values: 2_000 };

function refuseMalformed(token: string): void {
  if (Buffer.byteLength(token) > maxBytes) throw invalid('jwt: exceeds 64 KiB');
  for (const part of token.split('.', 2)) {
    const excess = excessOf(Buffer.from(part, 'base64url'), budget);
    if (excess !== undefined) throw invalid(`jwt: ${excess}`);
  }
  try {
    const { kid, alg } = decodeProtectedHeader(token);
    if (typeof alg !== 'string') throw invalid('jwt: does not name an algorithm');
    if (alg === 'RS256' && typeof kid !== 'string') throw invalid('jwt: does not name a key');
  } catch (error) {
    throw error instanceof Problem ? error : malformed();
  }
}

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
    return unusableKeys(error);
  if (error instanceof errors.JOSEError) return malformed();
  return error;
}
