import type { FaultKind } from './fault.ts';

/** The values of `sync_status` (docs/conventions/sync.md#status-values). */
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

/** Faults that a busy destination reports and that soon pass. */
const transient: ReadonlySet<FaultKind> = new Set(['throttled', 'not_ready']);

/**
 * A passing fault becomes an error with the fifth attempt in a row. With the delays of `nextAttempt`, that is after
 * 15 seconds or more (docs/conventions/sync.md#status-values).
 */
const errorAfterAttempts = 5;

/**
 * The status of an entry after each outcome of an attempt; ARCHITECTURE.md shows the whole state machine. Every new
 * intent leads to `PENDING`. A completed removal deletes the entry.
 */
export const nextStatus = {
  pushed: () => 'SYNCED',
  nothing_readable: () => 'UNSYNCED',
  failed: (fault: FaultKind, attempts: number): SyncStatus =>
    transient.has(fault) && attempts < errorAfterAttempts ? 'PENDING' : statusOfFault[fault],
  crashed: () => 'INTERNAL_SERVICE_ERROR',
} satisfies Record<string, (fault: FaultKind, attempts: number) => SyncStatus>;

/** Who must act after a fault: the client (the operator), or the external service. */
const statusOfFault = {
  unauthenticated: 'CLIENT_SIDE_ERROR',
  forbidden: 'CLIENT_SIDE_ERROR',
  rejected: 'CLIENT_SIDE_ERROR',
  too_large: 'CLIENT_SIDE_ERROR',
  full: 'CLIENT_SIDE_ERROR',
  conflict: 'CLIENT_SIDE_ERROR',
  throttled: 'EXTERNAL_SERVICE_ERROR',
  not_ready: 'EXTERNAL_SERVICE_ERROR',
  unavailable: 'EXTERNAL_SERVICE_ERROR',
} as const satisfies Record<FaultKind, SyncStatus>;

/** The status of an association: the one of its entries that most needs attention (docs/conventions/sync.md#status-values). */
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
