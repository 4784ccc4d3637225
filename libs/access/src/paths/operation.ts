import type { Capability } from '@secrets/caller';

/** What a request does, by its verb; `create-or-update` is POST and PUT, which the gateway cannot tell apart. */
export type Operation = 'create-or-update' | 'read' | 'delete' | 'list' | 'patch';

const sufficient: Record<Operation, readonly Capability[]> = {
  'create-or-update': ['create', 'update'],
  read: ['read'],
  delete: ['delete'],
  list: ['list'],
  patch: ['patch'],
};

/** Whether what is granted on a path suffices for an operation there. */
export const suffices = (granted: readonly Capability[], operation: Operation): boolean =>
  sufficient[operation].some((capability) => granted.includes(capability));
