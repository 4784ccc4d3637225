import { createHash } from 'node:crypto';

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
