import type { DirectorySettings } from './directory-settings.ts';
import type { Identity } from './identity.ts';
import type { TokenOptions } from './issue-token.ts';

/** An identity's claims. The token of a user-assigned identity also names the resource that it runs on. */
export function claimsOf(
  identity: Identity,
  { resourceClaims }: Pick<DirectorySettings, 'resourceClaims'>,
): Omit<TokenOptions, 'audience'> {
  const { oid, appid, groups, resourceId, identityId } = identity;
  if (!resourceClaims) return { oid, appid, groups };
  const resources =
    identityId === undefined ? { xms_mirid: resourceId } : { xms_mirid: identityId, xms_az_rid: resourceId };
  return { oid, appid, groups, ...resources };
}

/**
 * Returns the identity with this name, or the first one on the resource with this ID.
 * @throws RangeError if there is none
 */
export function identityNamed(identities: readonly Identity[], nameOrId: string): Identity {
  const identity =
    identities.find(({ name }) => name === nameOrId) ??
    identities.find(({ resourceId }) => resourceId.toLowerCase() === nameOrId.toLowerCase());
  if (!identity) throw new RangeError(`the directory has no identity ${nameOrId}`);
  return identity;
}
