import type { Capability } from '@secrets/caller';

/**
 * The operation of a request, determined by its verb. POST and PUT are `create-or-update`: only the service knows
 * whether the object exists.
 */
export type Operation = 'create-or-update' | 'read' | 'delete' | 'list' | 'patch';

const sufficient: Record<Operation, readonly Capability[]> = {
  'create-or-update': ['create', 'update'],
  read: ['read'],
  delete: ['delete'],
  list: ['list'],
  patch: ['patch'],
};

/** Whether the capabilities granted on a path allow an operation there. */
export const suffices = (granted: readonly Capability[], operation: Operation): boolean =>
  sufficient[operation].some((capability) => granted.includes(capability));
