import { createHmac, randomBytes } from 'node:crypto';
import { SignJWT } from 'jose';
import { z } from 'zod';
import { guidFrom } from './identity.ts';
import type { SigningKeys } from './signing-keys.ts';

const DAY_SECONDS = 86_400;
/** https://learn.microsoft.com/entra/identity-platform/access-token-claims-reference#groups-overage-claim */
const MAX_GROUPS = 200;

/** The properties of a token to issue. Only the object ID and the audience are required. */
export const TokenOptions = z.object({
  version: z.union([z.literal(1), z.literal(2)]).default(1),
  oid: z.string().max(256),
  audience: z.string().max(4096),
  groups: z.array(z.string().max(256)).max(1000).optional(),
  appid: z.string().max(256).optional(),
  xms_mirid: z.string().max(4096).optional(),
  xms_az_rid: z.string().max(4096).optional(),
  /** Negative for an expired token. */
  expiresInSeconds: z.int().default(DAY_SECONDS),
  /** Seconds since the epoch. Default: five minutes ago, as in the real directory. */
  notBefore: z.int().optional(),
  /** Claims to add or replace; null removes a claim. */
  overrides: z.record(z.string().max(256), z.unknown()).default({}),
  /** Key ID in the header, whichever key signs. */
  kid: z.string().max(1024).optional(),
  /** `none` omits the signature; `HS256` signs with the public key as the secret. */
  algorithm: z.enum(['RS256', 'RS384', 'RS512', 'PS256', 'HS256', 'none']).default('RS256'),
  /** Signs with a key that was never published, under the ID of a published key. */
  wrongKey: z.boolean().default(false),
  /** Too many groups for a token: it refers to an endpoint instead of listing them. */
  groupOverage: z.boolean().default(false),
});

export type TokenOptions = z.input<typeof TokenOptions>;
type ParsedOptions = z.output<typeof TokenOptions>;

/** The issuer of a tenant's tokens of the given version. */
export function issuerOf(tenantId: string, version: 1 | 2): string {
  if (version === 1) return `https://sts.windows.net/${tenantId}/`;
  return `https://login.microsoftonline.com/${tenantId}/v2.0`;
}

/**
 * Issues an access token of a managed identity, with the claims of the real directory's v1 or v2 tokens.
 * @throws ZodError if the options are invalid
 */
export async function issueToken(
  keys: SigningKeys,
  tenantId: string,
  requested: TokenOptions,
  nowMs: number,
): Promise<string> {
  const options = TokenOptions.parse(requested);
  const claims = claimsOf(options, tenantId, Math.floor(nowMs / 1000));
  if (options.algorithm === 'none') return unsigned({ typ: 'JWT', alg: 'none' }, claims);
  if (options.algorithm === 'HS256') return signedWithPublicKey(keys, options, claims);
  const { kid, key } = await (options.wrongKey
    ? keys.unpublishedSigner(options.algorithm)
    : keys.signer(options.algorithm));
  const header = { typ: 'JWT', alg: options.algorithm, x5t: options.kid ?? kid, kid: options.kid ?? kid };
  return new SignJWT(claims).setProtectedHeader(header).sign(key);
}

function claimsOf(options: ParsedOptions, tenantId: string, nowSeconds: number): Record<string, unknown> {
  const notBefore = options.notBefore ?? nowSeconds - 300;
  const claims = {
    aud: options.audience,
    iss: issuerOf(tenantId, options.version),
    iat: notBefore,
    nbf: notBefore,
    exp: nowSeconds + options.expiresInSeconds,
    aio: randomBytes(24).toString('base64'),
    ...clientClaims(options, tenantId),
    ...groupClaims(options, tenantId),
    idtyp: 'app',
    oid: options.oid,
    rh: `1.${randomBytes(20).toString('base64url')}.`,
    sub: options.oid,
    tid: tenantId,
    uti: randomBytes(16).toString('base64url'),
    ver: `${options.version}.0`,
    xms_az_rid: options.xms_az_rid,
    xms_mirid: options.xms_mirid,
    ...options.overrides,
  };
  return Object.fromEntries(
    Object.entries(claims).filter(([, claim]) => claim !== undefined && claim !== null),
  );
}

/** `2` means that the client authenticated with a certificate, as managed identities do. */
function clientClaims({ version, appid, oid }: ParsedOptions, tenantId: string): Record<string, string> {
  const client = appid ?? guidFrom(`client of ${oid}`);
  if (version === 2) return { azp: client, azpacr: '2' };
  return { appid: client, appidacr: '2', idp: issuerOf(tenantId, 1) };
}

function groupClaims(
  { groups, groupOverage, oid }: ParsedOptions,
  tenantId: string,
): Record<string, unknown> {
  if (!groupOverage && (groups?.length ?? 0) <= MAX_GROUPS) return { groups };
  const endpoint = `https://graph.windows.net/${tenantId}/servicePrincipals/${oid}/getMemberObjects`;
  return { _claim_names: { groups: 'src1' }, _claim_sources: { src1: { endpoint } } };
}

function unsigned(header: object, claims: object): string {
  return `${encodeSegment(header)}.${encodeSegment(claims)}.`;
}

/** A token of an algorithm-confusion attack: HS256, with the public RSA key as the secret. */
async function signedWithPublicKey(
  keys: SigningKeys,
  options: ParsedOptions,
  claims: object,
): Promise<string> {
  const kid = options.kid ?? (await keys.signer('RS256')).kid;
  const content = `${encodeSegment({ typ: 'JWT', alg: 'HS256', kid })}.${encodeSegment(claims)}`;
  return `${content}.${createHmac('sha256', await keys.publicPem())
    .update(content)
    .digest('base64url')}`;
}

function encodeSegment(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
