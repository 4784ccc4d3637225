import { type SyncStatus, statusOfAll } from '@secrets/domain';
import type { Entry } from '@secrets/sync-entries';
import type { AssociationRow } from './queries/associations.ts';

/** One line of `associated_secrets` (spec, section 2.6; decisions, section 4). */
export interface PresentedAssociation {
  accessor: string;
  mount: string;
  secret_name: string;
  sub_key: string;
  external_name: string;
  sync_status: SyncStatus;
  updated_at: string;
  attempts: number;
  next_attempt_at: string | null;
  last_error: string | null;
}

type Named = Pick<AssociationRow, 'accessor' | 'mount' | 'secretName'>;

/** The lines of one association: one a key at secret-key granularity, else one. */
export function presentAssociation(
  association: Named,
  entries: readonly Entry[],
): Record<string, PresentedAssociation> {
  return Object.fromEntries(
    entries.map((entry) => [
      lineKey(association, entry.subKey),
      {
        accessor: association.accessor,
        mount: association.mount,
        secret_name: association.secretName,
        sub_key: entry.subKey,
        external_name: entry.externalName,
        sync_status: entry.status,
        updated_at: timestamp(entry.updatedAt),
        attempts: entry.attempts,
        next_attempt_at: entry.nextAttemptAt === null ? null : timestamp(entry.nextAttemptAt),
        last_error: entry.lastError,
      },
    ]),
  );
}

/** What remove answers for external secrets that are gone. */
export function presentUnsynced(
  association: Named,
  entries: readonly Entry[],
  now: Date,
): Record<string, PresentedAssociation> {
  const gone = entries.length > 0 ? entries : [nothing];
  const lines = presentAssociation(
    association,
    gone.map((entry) => ({ ...entry, status: 'UNSYNCED', updatedAt: now, lastError: null })),
  );
  return lines;
}

const nothing: Entry = {
  id: '',
  associationId: '',
  destinationId: '',
  subKey: '',
  desired: 'absent',
  externalName: '',
  generation: 0,
  appliedGeneration: 0,
  status: 'UNSYNCED',
  attempts: 0,
  nextAttemptAt: null,
  fault: null,
  lastError: null,
  remote: null,
  updatedAt: new Date(0),
};

/** The status of a whole association and when it last moved. */
export function presentSummary(
  entries: readonly Entry[],
  fallback: Date,
): { sync_status: SyncStatus; updated_at: string } {
  const latest = Math.max(fallback.getTime(), ...entries.map(({ updatedAt }) => updatedAt.getTime()));
  return {
    sync_status: entries.length === 0 ? 'SYNCED' : statusOfAll(entries.map(({ status }) => status)),
    updated_at: timestamp(new Date(latest)),
  };
}

const lineKey = ({ accessor, secretName }: Named, subKey: string): string =>
  subKey === '' ? `${accessor}/${secretName}` : `${accessor}/${secretName}/${subKey}`;

/** ISO 8601 with a time zone offset (spec, section 2.6). */
const timestamp = (date: Date): string => date.toISOString().replace('Z', '+00:00');
