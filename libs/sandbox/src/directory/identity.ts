import { createHash } from 'node:crypto';

/** A managed identity. */
export interface Identity {
  name: string;
  kind: 'system-assigned' | 'user-assigned';
  /** Object ID of its service principal. */
  oid: string;
  /** Client ID. */
  appid: string;
  /** Resource ID of what runs as this identity: a machine, a scale set, a service. */
  resourceId: string;
  /** Resource ID of the identity itself, if it is user-assigned. */
  identityId?: string;
  /** Object IDs of its groups. */
  groups?: string[];
}

/** Derives a GUID from a text. The result is deterministic. */
export function guidFrom(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `a${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}

/** The default identities: a machine's own, and one that the instances of a scale set share. */
export function defaultIdentities(seed: string): Identity[] {
  const group = `/subscriptions/${guidFrom(`subscription ${seed}`)}/resourcegroups/sandbox`;
  const compute = `${group}/providers/Microsoft.Compute`;
  return [
    {
      name: 'web-1',
      kind: 'system-assigned',
      oid: guidFrom(`oid web-1 ${seed}`),
      appid: guidFrom(`appid web-1 ${seed}`),
      resourceId: `${compute}/virtualMachines/web-1`,
    },
    {
      name: 'build-agent',
      kind: 'user-assigned',
      oid: guidFrom(`oid build-agent ${seed}`),
      appid: guidFrom(`appid build-agent ${seed}`),
      resourceId: `${compute}/virtualMachineScaleSets/agents`,
      identityId: `${group}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/build-agent`,
      groups: [guidFrom(`group builders ${seed}`)],
    },
  ];
}
