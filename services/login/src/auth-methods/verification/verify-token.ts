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
  type ProtectedHeaderParameters,
  type ResolvedKey,
  UnsecuredJWT,
} from 'jose';
import { asTokenProblem, unusableKeys } from './token-problem.ts';

const maxBytes = 65_536;

/** A rule that the claims of every token must meet. */
export interface ClaimRule {
  check: string;
  claims: readonly string[];
  options: JWTClaimVerificationOptions;
}

/** The signatures that are accepted. */
export interface AcceptedSignatures {
  algorithms: readonly string[];
  /** Whether a token must name its key, which every directory that publishes several does. */
  needsKeyId: boolean;
}

/**
 * Verifies that a directory signed a token, and that its claims meet the rules. Returns its header, its payload and the key.
 * Throws `invalid` if it is malformed or over 64 KiB, `forbidden` with the failed check, and what `keys` throws. No message
 * contains a part of the token.
 */
export async function verifyToken(
  token: string,
  keys: JWTVerifyGetKey,
  accepted: AcceptedSignatures,
  rules: readonly ClaimRule[],
): Promise<JWTVerifyResult & ResolvedKey> {
  refuseMalformed(token, accepted);
  const options = rules.map((rule) => rule.options);
  const requiredClaims = options.flatMap((option) => option.requiredClaims ?? []);
  try {
    const verified = await jwtVerify(token, usable(keys), {
      algorithms: [...accepted.algorithms],
      ...Object.assign({}, ...options),
      requiredClaims,
    });
    refuseRepeatedNames(token);
    return verified;
  } catch (error) {
    throw asTokenProblem(error);
  }
}

/** Verifies only that the directory signed a token, in the same way. Returns the key. */
export async function verifyTokenSignature(
  token: string,
  keys: JWTVerifyGetKey,
  accepted: AcceptedSignatures,
): Promise<object> {
  refuseMalformed(token, accepted);
  try {
    const { protectedHeader, key } = await compactVerify(token, usable(keys), {
      algorithms: [...accepted.algorithms],
    });
    if (protectedHeader.b64 === false) throw new errors.JWTInvalid(); // RFC 7797, section 7; `jwtVerify` refuses it, too
    refuseRepeatedNames(token);
    return key as object;
  } catch (error) {
    throw asTokenProblem(error);
  }
}

/**
 * The claims of a token whose signature somebody else verifies, as they are for every parser. Throws `invalid` if it is
 * malformed.
 */
export function decodeUnambiguous(token: string, accepted: AcceptedSignatures): JWTPayload {
  const claims = decodeUnverified(token, accepted);
  refuseRepeatedNames(token);
  return claims;
}

/** The claims of a token that is not verified. Throws `invalid` if it is malformed. */
export function decodeUnverified(token: string, accepted: AcceptedSignatures): JWTPayload {
  refuseMalformed(token, accepted);
  try {
    return decodeJwt(token);
  } catch (error) {
    throw asTokenProblem(error);
  }
}

/** The header of a token that is well-formed, but not verified. */
export const unverifiedHeader = (token: string): ProtectedHeaderParameters => decodeProtectedHeader(token);

/** Checks the claims that a rule is about, whatever the others are. Throws `forbidden` with the claim that failed. */
export function requireRule(payload: JWTPayload, { claims, options }: ClaimRule): void {
  const own = Object.fromEntries(Object.entries(payload).filter(([name]) => claims.includes(name)));
  try {
    UnsecuredJWT.decode(new UnsecuredJWT(own).encode(), options);
  } catch (error) {
    throw asTokenProblem(error);
  }
}

/** Minimum size of an RSA key: https://www.rfc-editor.org/rfc/rfc7518#section-3.3 */
const leastModulusBits = 2_048;
/** A longer one takes too long. */
const mostModulusBits = 16_384;

/** Refuses keys that the library would report as a fault of this program: damaged ones, and ones that are too short. */
const usable =
  (keys: JWTVerifyGetKey): JWTVerifyGetKey =>
  async (header, token) => {
    const key = await findKey(keys, header, token);
    if (!isUsable(key)) throw unusableKeys();
    return key;
  };

async function findKey(keys: JWTVerifyGetKey, ...of: Parameters<JWTVerifyGetKey>) {
  try {
    return await keys(...of);
  } catch (error) {
    throw error instanceof Problem || error instanceof errors.JOSEError ? error : unusableKeys(error);
  }
}

/** The properties of a public key of Web Crypto that are checked. */
interface KeyProperties {
  type?: string;
  algorithm?: { name?: string; modulusLength?: number; publicExponent?: Uint8Array };
}

/** Whether a key is public, and not too weak. Other algorithms than RSA name the curve, and so the size. */
function isUsable(key: unknown): boolean {
  const { type, algorithm = {} } = key as KeyProperties;
  const { name = '', modulusLength = 0, publicExponent = new Uint8Array() } = algorithm;
  if (type !== 'public') return false;
  if (/^(?:EC|Ed)/.test(name)) return true;
  const isLong = modulusLength >= leastModulusBits && modulusLength <= mostModulusBits;
  return isLong && isOddAboveOne(publicExponent);
}

/** With the exponent 1, every text is its own signature. */
const isOddAboveOne = (exponent: Uint8Array): boolean =>
  (exponent.at(-1)! & 1) === 1 && BigInt(`0x${Buffer.from(exponent).toString('hex') || '0'}`) > 1n;

/**
 * Limits for the header and the claims: a directory names at most a few hundred groups in a token. Counted before the header is
 * parsed, which is not signed yet.
 */
const budget = { depth: 16, values: 2_000 };

function refuseMalformed(token: string, { algorithms, needsKeyId }: AcceptedSignatures): void {
  if (Buffer.byteLength(token) > maxBytes) throw invalid('jwt: exceeds 64 KiB');
  for (const part of token.split('.', 2)) {
    const excess = excessOf(Buffer.from(part, 'base64url'), budget);
    if (excess !== undefined) throw invalid(`jwt: ${excess}`);
  }
  try {
    const { kid, alg } = decodeProtectedHeader(token);
    if (typeof alg !== 'string') throw invalid('jwt: does not name an algorithm');
    const isNeeded = kid !== undefined || needsKeyId;
    if (isNeeded && algorithms.includes(alg) && typeof kid !== 'string')
      throw invalid('jwt: does not name a key');
  } catch (error) {
    throw error instanceof Problem ? error : asTokenProblem(new errors.JWTInvalid());
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
