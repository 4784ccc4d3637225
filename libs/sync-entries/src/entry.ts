import type { Drift, Evidence, FaultKind, Json, SyncStatus } from '@secrets/domain';

/** The current state of one external secret of an association. */
export interface Entry {
  id: string;
  associationId: string;
  destinationId: string;
  subKey: string;
  desired: 'present' | 'absent';
  /** The entry that replaces this one and must be achieved before it is removed; null if there is none. */
  waitsFor: string | null;
  externalName: string;
  /** The name as the destination compares names, for example in lower case. Unique in a destination. */
  collisionKey: string;
  generation: number;
  appliedGeneration: number;
  status: SyncStatus;
  attempts: number;
  nextAttemptAt: Date | null;
  fault: FaultKind | null;
  lastError: string | null;
  remote: Json | null;
  updatedAt: Date;
  /** When a put or a look last showed what the external secret holds; null if none has. */
  verifiedAt: Date | null;
  /** The difference that was found then; null if nothing was. */
  drift: Drift | null;
  /** When a look first found this drift. */
  driftSeenAt: Date | null;
  /** The part of the external secret that shows it; null if it is absent, or a put has written it. */
  evidence: Evidence | null;
}

/** Whether the entry is already a pending operation. A further intent does not add one. */
export const isPending = ({ generation, appliedGeneration }: Entry): boolean =>
  appliedGeneration < generation;

/** Whether the entry waits for the operator because of what a look has found. A failed attempt would have left a fault. */
export const hasDrifted = ({ status, fault, drift }: Entry): boolean =>
  status === 'CLIENT_SIDE_ERROR' && fault === null && drift !== null && drift !== 'none';

/** The columns of `Entry`, for `select` and `returning`. */
export const entryColumns = `
  id, association_id as "associationId", destination_id as "destinationId", sub_key as "subKey", desired, waits_for as "waitsFor",
  external_name as "externalName", collision_key as "collisionKey", generation, applied_generation as "appliedGeneration", status, attempts,
  next_attempt_at as "nextAttemptAt", fault, last_error as "lastError", remote, updated_at as "updatedAt",
  verified_at as "verifiedAt", drift, drift_seen_at as "driftSeenAt", evidence`;
