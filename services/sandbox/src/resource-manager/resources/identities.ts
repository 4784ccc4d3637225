import type { Identity } from '../../directory/identity.ts';
import { isFlexibleSet, isUserAssignedIdentity, partsOf, type Resource } from './resource.ts';
import { idInClaims } from './resource-id.ts';
import type { ResourceInventory } from './resource-inventory.ts';

/**
 * The identities that programs on the resources can use: the system-assigned one of each, and its user-assigned ones.
 * Programs run on the instances of a flexible scale set, not on the set. A system-assigned identity has the name of its
 * resource, a user-assigned one its own. If that name is taken, it is followed by the resource that it runs on: its
 * name, as in `build-agent@web-2`, or its whole ID.
 */
export function identitiesOn(inventory: ResourceInventory): Identity[] {
  const found = inventory.all().flatMap((resource) => {
    if (isUserAssignedIdentity(partsOf(resource)) || isFlexibleSet(resource)) return [];
    return [...systemAssigned(resource), ...userAssigned(resource, inventory)];
  });
  const names = new Set<string>();
  return found.map((identity) => {
    const { name, resourceId } = identity;
    const candidates = [name, `${name}@${resourceId.split('/').at(-1)}`];
    const free = candidates.find((candidate) => !names.has(candidate)) ?? `${name}@${resourceId}`;
    names.add(free);
    return { ...identity, name: free };
  });
}

function systemAssigned(resource: Resource): Identity[] {
  const { id, principal } = resource;
  if (!principal) return [];
  const { principalId: oid, clientId: appid, groups } = principal;
  const name = partsOf(resource).name;
  return [
    { name, kind: 'system-assigned', oid, appid, resourceId: idInClaims(id), ...(groups && { groups }) },
  ];
}

function userAssigned({ id, userAssigned: ids }: Resource, inventory: ResourceInventory): Identity[] {
  return ids.flatMap((identityId): Identity[] => {
    const identity = inventory.find(identityId);
    if (!identity?.principal) return [];
    const { principalId: oid, clientId: appid, groups } = identity.principal;
    const ids = { resourceId: idInClaims(id), identityId: idInClaims(identity.id) };
    return [
      { name: partsOf(identity).name, kind: 'user-assigned', oid, appid, ...ids, ...(groups && { groups }) },
    ];
  });
}
