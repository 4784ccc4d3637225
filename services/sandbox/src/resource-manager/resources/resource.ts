import { z } from 'zod';
import { guidFrom } from '../../directory/identity.ts';
import { parseResourceId, type ResourceId } from './resource-id.ts';

const text = z.string().min(1).max(256);
const resourceId = z
  .string()
  .max(2_048)
  .refine((id) => parseResourceId(id) !== undefined, 'is not the ID of a resource');

const PrincipalSpec = z.object({
  /** Object ID of the service principal. Default: derived from the resource's ID. */
  principalId: z.uuid().optional(),
  /** Default: derived from the resource's ID. */
  clientId: z.uuid().optional(),
  /** Object IDs of its groups. */
  groups: z.array(text).max(1_000).optional(),
});

/** A resource of the simulated cloud, as options and the control API describe it. */
export const ResourceSpec = z.object({
  id: resourceId,
  /** As responses return it: a name such as `westus`, or a display name such as `West US`. */
  location: text.default('westus'),
  /** The system-assigned identity. Of a user-assigned identity: itself, which it always has. */
  principal: z.union([z.boolean(), PrincipalSpec]).default(false),
  /** Resource IDs of the user-assigned identities. */
  userAssigned: z.array(resourceId).max(100).default([]),
  tags: z.record(text, z.string().max(256)).default({}),
  /** As in the API of the resource: a scale set has its `orchestrationMode` here, its instance the `virtualMachineScaleSet`. */
  properties: z.record(text, z.unknown()).default({}),
  /** The API versions of its type, newest first, if the sandbox does not know the type. */
  apiVersions: z.array(text).min(1).max(100).optional(),
});
export type ResourceSpec = z.input<typeof ResourceSpec>;

/** The service principal of an identity. */
interface Principal {
  principalId: string;
  clientId: string;
  groups?: string[] | undefined;
}

/** A resource. The field names are the journal's format. */
export interface Resource {
  id: string;
  location: string;
  principal?: Principal | undefined;
  userAssigned: string[];
  tags: Record<string, string>;
  properties: Record<string, unknown>;
  apiVersions?: string[] | undefined;
}

/**
 * Completes the description of a resource.
 * @throws ZodError if it is invalid
 */
export function resourceFrom(spec: unknown, seed: string): Resource {
  const { principal, ...resource } = ResourceSpec.parse(spec);
  const hasPrincipal = principal !== false || isUserAssignedIdentity(partsOf(resource));
  return hasPrincipal ? { ...resource, principal: principalOf(resource.id, principal, seed) } : resource;
}

function principalOf(id: string, given: z.output<typeof ResourceSpec>['principal'], seed: string): Principal {
  const { principalId, clientId, groups } = typeof given === 'boolean' ? {} : given;
  return {
    principalId: (principalId ?? guidFrom(`oid ${id.toLowerCase()} ${seed}`)).toLowerCase(),
    clientId: (clientId ?? guidFrom(`appid ${id.toLowerCase()} ${seed}`)).toLowerCase(),
    ...(groups && { groups }),
  };
}

/** The parts of a resource's ID. */
export function partsOf({ id }: Pick<Resource, 'id'>): ResourceId {
  const parts = parseResourceId(id);
  if (!parts) throw new RangeError(`${id} is not the ID of a resource`);
  return parts;
}

/** Whether a type of resource is this one, such as `Microsoft.Compute/virtualMachines`. Case does not matter. */
export const isOfType = ({ namespace, type }: ResourceId, expected: string): boolean =>
  `${namespace}/${type}`.toLowerCase() === expected.toLowerCase();

export const isUserAssignedIdentity = (id: ResourceId): boolean =>
  isOfType(id, 'Microsoft.ManagedIdentity/userAssignedIdentities');

/** Whether it is a scale set whose instances are virtual machines. */
export function isFlexibleSet(resource: Resource): boolean {
  if (!isOfType(partsOf(resource), 'Microsoft.Compute/virtualMachineScaleSets')) return false;
  return String(resource.properties.orchestrationMode).toLowerCase() === 'flexible';
}
