import { Problem } from '@secrets/domain';
import { z } from 'zod';
import { type BoundField, claimFields } from '../roles/bound-fields.ts';

const text = z.string().min(1).max(4_096);

const boundClaim = z.union([text, z.array(text).max(1_000)]).optional();
const boundClaimNames = [...claimFields.values()].flat();

/** The claims that are read from a verified directory token; others are ignored. */
const Claims = z.object({
  ...Object.fromEntries(boundClaimNames.map((name) => [name, boundClaim])),
  oid: text.max(256),
  tid: text.max(256),
  iat: z.number().optional(),
  groups: z.array(z.string().max(256)).max(1_000).optional(),
  hasgroups: z.union([z.boolean(), z.string()]).optional(),
  _claim_names: z.record(z.string(), z.unknown()).optional(),
  uti: text.optional(),
  jti: text.optional(),
  appid: text.max(256).optional(),
  azp: text.max(256).optional(),
  xms_mirid: text.optional(),
  xms_az_rid: text.optional(),
});

/** The principal of a directory token, and where it runs. The IDs of the directory are in lower case. */
export interface DirectoryClaims {
  oid: string;
  /** Seconds since 1970. */
  issuedAt: number | undefined;
  groups: string[];
  /** Whether the token omits the groups because there are too many. */
  groupsOmitted: boolean;
  tokenId: string | undefined;
  /** Client ID of the principal: `appid`, in v2 tokens `azp`. */
  clientId: string | undefined;
  /** Resource ID of what has the identity, or of the identity itself if it is user-assigned. Not parsed. */
  xmsMirid: string | undefined;
  /** Resource ID of what the identity runs on. Not parsed. */
  xmsAzRid: string | undefined;
  /** The values of the claims that roles may bind, by the field that binds them. */
  bound: BoundClaims;
}

type BoundClaims = Readonly<Partial<Record<BoundField, readonly string[]>>>;

/** The claims whose form matters to a login. */
export const readClaims = ['oid', 'groups', 'xms_az_rid', 'xms_mirid', ...boundClaimNames];

/** Reads the claims of a verified token. Throws `forbidden` with the first missing or invalid claim. */
export function parseClaims(payload: unknown): DirectoryClaims {
  const parsed = Claims.safeParse(payload);
  if (!parsed.success) {
    const claim = String(parsed.error.issues[0]?.path[0] ?? 'claims');
    throw new Problem('forbidden', `the token's ${claim} is missing or invalid`);
  }
  const claims = parsed.data;
  return {
    oid: claims.oid.toLowerCase(),
    issuedAt: claims.iat,
    groups: (claims.groups ?? []).map((group) => group.toLowerCase()),
    groupsOmitted: claims._claim_names?.groups !== undefined || String(claims.hasgroups ?? false) === 'true',
    tokenId: claims.uti ?? claims.jti,
    clientId: (claims.appid ?? claims.azp)?.toLowerCase(),
    xmsMirid: claims.xms_mirid,
    xmsAzRid: claims.xms_az_rid,
    bound: boundClaimsOf(claims),
  };
}

const boundClaimsOf = (claims: Record<string, unknown>): BoundClaims =>
  Object.fromEntries(
    [...claimFields].map(([field, names]) => {
      const name = names.find((candidate) => claims[candidate] !== undefined);
      return [field, name === undefined ? [] : [claims[name] as string | string[]].flat()];
    }),
  );
