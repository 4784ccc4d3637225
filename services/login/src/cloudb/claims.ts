import { Problem } from '@secrets/domain';
import { z } from 'zod';

const text = z.string().min(1).max(4_096);

/** What is read from a directory token whose signature holds; everything else in it is passed over. */
const Claims = z.object({
  oid: text.max(256),
  tid: text.max(256),
  iat: z.number().optional(),
  groups: z.array(z.string().max(256)).max(1_000).optional(),
  hasgroups: z.union([z.boolean(), z.string()]).optional(),
  _claim_names: z.record(z.string(), z.unknown()).optional(),
  appid: text.optional(),
  azp: text.optional(),
  xms_az_rid: text.optional(),
  xms_mirid: text.optional(),
  uti: text.optional(),
  jti: text.optional(),
});

/** Who a directory token speaks of. Ids are in lower case. */
export interface DirectoryClaims {
  oid: string;
  /** Seconds since 1970. */
  issuedAt: number | undefined;
  groups: string[];
  /** The groups were too many for the token, which then names none of them. */
  groupsOmitted: boolean;
  clientId: string | undefined;
  /** Resource ids, the machine's before the identity's. */
  resourceIds: string[];
  tokenId: string | undefined;
}

/** Reads the claims of a verified token. Throws a problem (`forbidden`) that names a claim which is missing or not what it should be. */
export function parseClaims(payload: unknown): DirectoryClaims {
  const parsed = Claims.safeParse(payload);
  if (!parsed.success) {
    const claim = String(parsed.error.issues[0]?.path[0] ?? 'claims');
    throw new Problem('forbidden', `the token's ${claim} is missing or not valid`);
  }
  const claims = parsed.data;
  return {
    oid: claims.oid.toLowerCase(),
    issuedAt: claims.iat,
    groups: (claims.groups ?? []).map((group) => group.toLowerCase()),
    groupsOmitted: claims._claim_names?.groups !== undefined || String(claims.hasgroups ?? false) === 'true',
    clientId: (claims.appid ?? claims.azp)?.toLowerCase(),
    resourceIds: [claims.xms_az_rid, claims.xms_mirid].filter((id) => id !== undefined),
    tokenId: claims.uti ?? claims.jti,
  };
}
