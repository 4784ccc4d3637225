import type { FaultKind } from './fault.ts';

/** The values of `sync_status` (docs/conventions.md#57-status-values). */
export const syncStatuses = [
  'PENDING',
  'SYNCED',
  'UNSYNCED',
  'UNKNOWN',
  'CLIENT_SIDE_ERROR',
  'EXTERNAL_SERVICE_ERROR',
  'INTERNAL_SERVICE_ERROR',
] as const;
export type SyncStatus = (typeof syncStatuses)[number];

/** What can happen to an entry. `intended` is every set, remove, purge or change of the secret. */
export type SyncEvent = 'intended' | 'pushed' | 'nothing_readable' | 'removed' | 'failed' | 'crashed';

/** Faults that a busy destination reports and that are soon over. */
const transient: ReadonlySet<FaultKind> = new Set(['throttled', 'not_ready']);

/**
 * A passing fault becomes an error with the fifth attempt in a row. With the delays of `nextAttempt`, that is after
 * 15 seconds or more (docs/conventions.md#57-status-values).
 */
const errorAfterAttempts = 5;

/** Where each event leads: the whole state machine, and the drawing in ARCHITECTURE.md. `removed` ends the row. */
export const nextStatus = {
  intended: () => 'PENDING',
  pushed: () => 'SYNCED',
  nothing_readable: () => 'UNSYNCED',
  removed: () => 'UNSYNCED',
  failed: (fault: FaultKind, attempts: number): SyncStatus =>
    transient.has(fault) && attempts < errorAfterAttempts ? 'PENDING' : statusOfFault[fault],
  crashed: () => 'INTERNAL_SERVICE_ERROR',
} satisfies Record<SyncEvent, (fault: FaultKind, attempts: number) => SyncStatus>;

/** Whose turn it is after a fault: the operator's, or the provider's. */
export const statusOfFault = {
  unauthenticated: 'CLIENT_SIDE_ERROR',
  forbidden: 'CLIENT_SIDE_ERROR',
  rejected: 'CLIENT_SIDE_ERROR',
  too_large: 'CLIENT_SIDE_ERROR',
  conflict: 'CLIENT_SIDE_ERROR',
  throttled: 'EXTERNAL_SERVICE_ERROR',
  not_ready: 'EXTERNAL_SERVICE_ERROR',
  unavailable: 'EXTERNAL_SERVICE_ERROR',
} as const satisfies Record<FaultKind, SyncStatus>;

/** The status of an association: its entries' when they agree, otherwise the one that most wants attention. */
export function statusOfAll(statuses: readonly SyncStatus[]): SyncStatus {
  return attention.find((status) => statuses.includes(status)) ?? 'UNKNOWN';
}

const attention: readonly SyncStatus[] = [
  'CLIENT_SIDE_ERROR',
  'INTERNAL_SERVICE_ERROR',
  'EXTERNAL_SERVICE_ERROR',
  'PENDING',
  'UNKNOWN',
  'UNSYNCED',
  'SYNCED',
];
