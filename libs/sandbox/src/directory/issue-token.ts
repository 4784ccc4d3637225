import { createHmac, randomBytes } from 'node:crypto';
import { SignJWT } from 'jose';
import { z } from 'zod';
import { guidOf } from './identity.ts';
import type { SigningKeys } from './signing-keys.ts';

const DAY_SECONDS = 86_400;

/** A token as it is ordered; everything has a default but the audience and who it is for. */
export const TokenOrder = z.object({
  version: z.union([z.literal(1), z.literal(2)]).default(1),
  oid: z.string().max(256),
  audience: z.string().max(4096),
  groups: z.array(z.string().max(256)).max(1000).optional(),
  appid: z.string().max(256).optional(),
  xms_mirid: z.string().max(4096).optional(),
  xms_az_rid: z.string().max(4096).optional(),
  /** May be negative: a token that is over. */
  expiresInSeconds: z.int().default(DAY_SECONDS),
  /** Seconds since the epoch. Default: five minutes ago, as the real directory does. */
  notBefore: z.int().optional(),
  /** Claims to add or replace; null takes one away. */
  overrides: z.record(z.string().max(256), z.unknown()).default({}),
  /** Key id in the header, whichever key signs. */
  kid: z.string().max(1024).optional(),
  /** `none` leaves the signature out; `HS256` signs with the public key as the secret. */
  algorithm: z.enum(['RS256', 'RS384', 'RS512', 'PS256', 'HS256', 'none']).default('RS256'),
  /** Signs with a key that was never published, under a published key's id. */
  wrongKey: z.boolean().default(false),
  /** More groups than fit: the token says where to ask for them in place of naming them. */
  groupOverage: z.boolean().default(false),
});

export type TokenOrder = z.input<typeof TokenOrder>;
type Order = z.output<typeof TokenOrder>;

/** The issuer of a tenant's tokens, by their version. */
export function issuerOf(tenantId: string, version: 1 | 2): string {
  if (version === 1) return `https://sts.windows.net/${tenantId}/`;
  return `https://login.microsoftonline.com/${tenantId}/v2.0`;
}

/**
 * Issues an access token of a managed identity, in the claims of the real directory's v1 or v2 tokens.
 * @throws ZodError when the order is not one that the sandbox knows
 */
export async function issueToken(
  keys: SigningKeys,
  tenantId: string,
  ordered: TokenOrder,
  nowMs: number,
): Promise<string> {
  const order = TokenOrder.parse(ordered);
  const claims = claimsOf(order, tenantId, Math.floor(nowMs / 1000));
  if (order.algorithm === 'none') return unsigned({ typ: 'JWT', alg: 'none' }, claims);
  if (order.algorithm === 'HS256') return confused(keys, order, claims);
  const { kid, key } = await (order.wrongKey ? keys.stranger(order.algorithm) : keys.signer(order.algorithm));
  const header = { typ: 'JWT', alg: order.algorithm, x5t: order.kid ?? kid, kid: order.kid ?? kid };
  return new SignJWT(claims).setProtectedHeader(header).sign(key);
}

function claimsOf(order: Order, tenantId: string, nowSeconds: number): Record<string, unknown> {
  const notBefore = order.notBefore ?? nowSeconds - 300;
  const claims = {
    aud: order.audience,
    iss: issuerOf(tenantId, order.version),
    iat: notBefore,
    nbf: notBefore,
    exp: nowSeconds + order.expiresInSeconds,
    aio: randomBytes(24).toString('base64'),
    ...clientClaims(order, tenantId),
    ...groupClaims(order, tenantId),
    idtyp: 'app',
    oid: order.oid,
    rh: `1.${randomBytes(20).toString('base64url')}.`,
    sub: order.oid,
    tid: tenantId,
    uti: randomBytes(16).toString('base64url'),
    ver: `${order.version}.0`,
    xms_az_rid: order.xms_az_rid,
    xms_mirid: order.xms_mirid,
    ...order.overrides,
  };
  return Object.fromEntries(
    Object.entries(claims).filter(([, claim]) => claim !== undefined && claim !== null),
  );
}

/** `2`: the client proved itself with a certificate, as managed identities do. */
function clientClaims({ version, appid, oid }: Order, tenantId: string): Record<string, string> {
  const client = appid ?? guidOf(`client of ${oid}`);
  if (version === 2) return { azp: client, azpacr: '2' };
  return { appid: client, appidacr: '2', idp: issuerOf(tenantId, 1) };
}

function groupClaims({ groups, groupOverage, oid }: Order, tenantId: string): Record<string, unknown> {
  if (!groupOverage) return { groups };
  const endpoint = `https://graph.windows.net/${tenantId}/servicePrincipals/${oid}/getMemberObjects`;
  return { _claim_names: { groups: 'src1' }, _claim_sources: { src1: { endpoint } } };
}

function unsigned(header: object, claims: object): string {
  return `${encoded(header)}.${encoded(claims)}.`;
}

async function confused(keys: SigningKeys, order: Order, claims: object): Promise<string> {
  const kid = order.kid ?? (await keys.signer('RS256')).kid;
  const content = `${encoded({ typ: 'JWT', alg: 'HS256', kid })}.${encoded(claims)}`;
  return `${content}.${createHmac('sha256', await keys.publicPem())
    .update(content)
    .digest('base64url')}`;
}

function encoded(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
