import { Problem } from '@secrets/domain';
import { z } from 'zod';

const text = z.string().min(1).max(4_096);

/** The claims that are read from a verified directory token; others are ignored. */
const Claims = z.object({
  oid: text.max(256),
  tid: text.max(256),
  iat: z.number().optional(),
  groups: z.array(z.string().max(256)).max(1_000).optional(),
  hasgroups: z.union([z.boolean(), z.string()]).optional(),
  _claim_names: z.record(z.string(), z.unknown()).optional(),
  uti: text.optional(),
  jti: text.optional(),
});

/** The principal of a directory token. IDs are in lower case. */
export interface DirectoryClaims {
  oid: string;
  /** Seconds since 1970. */
  issuedAt: number | undefined;
  groups: string[];
  /** Whether the token omits the groups because there are too many. */
  groupsOmitted: boolean;
  tokenId: string | undefined;
}

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
  };
}
