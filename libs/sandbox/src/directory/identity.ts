import { createHash } from 'node:crypto';

/** A managed identity as the directory knows it. */
export interface Identity {
  name: string;
  kind: 'system-assigned' | 'user-assigned';
  /** Object id of its service principal. */
  oid: string;
  /** Its client id. */
  appid: string;
  /** Resource id of what runs as this identity: a machine, a set, a service. */
  resourceId: string;
  /** Resource id of the identity itself, where it is user-assigned. */
  identityId?: string;
  /** Object ids of its groups. */
  groups?: string[];
}

/** A GUID that belongs to a text: the same for the same text. */
export function guidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `a${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}

/** Identities that a sandbox has from the start: a machine's own, and one shared by the instances of a set. */
export function defaultIdentities(seed: string): Identity[] {
  const group = `/subscriptions/${guidOf(`subscription ${seed}`)}/resourcegroups/sandbox`;
  const compute = `${group}/providers/Microsoft.Compute`;
  return [
    {
      name: 'web-1',
      kind: 'system-assigned',
      oid: guidOf(`oid web-1 ${seed}`),
      appid: guidOf(`appid web-1 ${seed}`),
      resourceId: `${compute}/virtualMachines/web-1`,
    },
    {
      name: 'build-agent',
      kind: 'user-assigned',
      oid: guidOf(`oid build-agent ${seed}`),
      appid: guidOf(`appid build-agent ${seed}`),
      resourceId: `${compute}/virtualMachineScaleSets/agents`,
      identityId: `${group}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/build-agent`,
      groups: [guidOf(`group builders ${seed}`)],
    },
  ];
}
