import type { FaultKind, Json, SyncStatus } from '@secrets/domain';

/** The current state of one external secret of an association. */
export interface Entry {
  id: string;
  associationId: string;
  destinationId: string;
  subKey: string;
  desired: 'present' | 'absent';
  externalName: string;
  generation: number;
  appliedGeneration: number;
  status: SyncStatus;
  attempts: number;
  nextAttemptAt: Date | null;
  fault: FaultKind | null;
  lastError: string | null;
  remote: Json | null;
  updatedAt: Date;
}

/** Whether the entry is already a pending operation. A further intent does not add one. */
export const isPending = ({ generation, appliedGeneration }: Entry): boolean =>
  appliedGeneration < generation;

/** The columns of `Entry`, for `select` and `returning`. */
export const entryColumns = `
  id, association_id as "associationId", destination_id as "destinationId", sub_key as "subKey", desired,
  external_name as "externalName", generation, applied_generation as "appliedGeneration", status, attempts,
  next_attempt_at as "nextAttemptAt", fault, last_error as "lastError", remote, updated_at as "updatedAt"`;
