import type { DirectoryClaims } from '../directory/claims.ts';
import { isIdentity, parseResourceId, type ResourceId } from '../resource-names/resource-id.ts';

/** Where a token proves that its principal runs. */
export type TokenPlace =
  /** On this resource. `identity`: the user-assigned identity, if the token names one. */
  | { kind: 'resource'; claim: string; id: ResourceId; identity: ResourceId | undefined }
  /** The token names only a user-assigned identity, which may run anywhere. */
  | { kind: 'identity'; claim: string }
  /** The token names no resource. */
  | { kind: 'none' }
  /** A claim is not the ID of a resource. */
  | { kind: 'malformed'; claim: string };

/**
 * Reads the claims that name resources (docs/conventions/cloudb.md#decision). `xms_az_rid` is what a principal runs on.
 * Without it, `xms_mirid` is the same for a system-assigned identity, but the identity itself for a user-assigned one.
 */
export function tokenPlace({
  xmsAzRid,
  xmsMirid,
}: Pick<DirectoryClaims, 'xmsAzRid' | 'xmsMirid'>): TokenPlace {
  const runsOn = xmsAzRid === undefined ? undefined : parseResourceId(xmsAzRid);
  const identity = xmsMirid === undefined ? undefined : parseResourceId(xmsMirid);
  if (xmsAzRid !== undefined && runsOn === undefined) return { kind: 'malformed', claim: 'xms_az_rid' };
  if (xmsMirid !== undefined && identity === undefined) return { kind: 'malformed', claim: 'xms_mirid' };
  const claim = runsOn === undefined ? 'xms_mirid' : 'xms_az_rid';
  const id = runsOn ?? identity;
  if (id === undefined) return { kind: 'none' };
  if (isIdentity(id)) return { kind: 'identity', claim };
  return {
    kind: 'resource',
    claim,
    id,
    identity: identity !== undefined && isIdentity(identity) ? identity : undefined,
  };
}
