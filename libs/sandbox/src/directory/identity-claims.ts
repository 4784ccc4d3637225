import type { Identity } from './identity.ts';
import type { TokenOptions } from './issue-token.ts';

/** An identity's claims. The token of a user-assigned identity also names the resource that it runs on. */
export function claimsOf(identity: Identity): Omit<TokenOptions, 'audience'> {
  const { oid, appid, groups, resourceId, identityId } = identity;
  const resources =
    identityId === undefined ? { xms_mirid: resourceId } : { xms_mirid: identityId, xms_az_rid: resourceId };
  return { oid, appid, groups, ...resources };
}

/** Returns the identity with this name. Throws RangeError if there is none. */
export function identityNamed(identities: readonly Identity[], name: string): Identity {
  const identity = identities.find((candidate) => candidate.name === name);
  if (!identity) throw new RangeError(`the directory has no identity ${name}`);
  return identity;
}
