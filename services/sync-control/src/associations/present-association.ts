import { type SyncStatus, statusOfAll } from '@secrets/domain';
import type { Entry } from '@secrets/sync-entries';
import type { AssociationRow, UnnamedKey } from '../queries/associations.ts';

/** One line of `associated_secrets` (docs/conventions.md#56-association-objects). */
export interface AssociationLine {
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

/** `accessor` is empty for an association that does not exist: whether the mount does is not for every caller to know. */
type Named = Pick<AssociationRow, 'accessor' | 'mount' | 'secretName'>;
type Noted = Pick<AssociationRow, 'unnamedKeys' | 'updatedAt'>;

/** One association: one line for each key at secret-key granularity, otherwise one line. Keys that cannot be synced have a line with the reason. */
export const presentAssociation = (
  association: Named & Noted,
  entries: readonly Entry[],
): Record<string, AssociationLine> => ({
  ...Object.fromEntries(
    association.unnamedKeys.map((unnamed) => [
      `${association.accessor}/${association.secretName}/${unnamed.key}`,
      presentUnnamedKey(association, unnamed),
    ]),
  ),
  ...presentEntries(association, entries),
});

/**
 * The lines of entries alone. While a renamed external secret is replaced, two entries have the same key; its line shows
 * the more urgent one.
 */
export function presentEntries(
  association: Named,
  entries: readonly Entry[],
): Record<string, AssociationLine> {
  const entriesByKey = Map.groupBy(entries, ({ subKey }) => lineKey(association, subKey));
  return Object.fromEntries(
    [...entriesByKey].map(([key, sameKey]) => [key, presentEntry(association, findMostUrgent(sameKey))]),
  );
}

function findMostUrgent(entries: readonly Entry[]): Entry {
  const worst = statusOfAll(entries.map(({ status }) => status));
  const worstEntries = entries.filter(({ status }) => status === worst);
  return worstEntries.find(({ desired }) => desired === 'present') ?? worstEntries[0]!;
}

const presentEntry = (association: Named, entry: Entry): AssociationLine => ({
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
});

/** The status of keys that cannot be synced: the writer of the secret or of the destination must change the name. */
export const unnamedStatus: SyncStatus = 'CLIENT_SIDE_ERROR';

const presentUnnamedKey = (association: Named & Noted, { key, reason }: UnnamedKey): AssociationLine => ({
  accessor: association.accessor,
  mount: association.mount,
  secret_name: association.secretName,
  sub_key: key,
  external_name: '',
  sync_status: unnamedStatus,
  updated_at: timestamp(association.updatedAt),
  attempts: 0,
  next_attempt_at: null,
  last_error: reason,
});

/** What remove returns for external secrets that are deleted. */
export function presentUnsynced(
  association: Named,
  entries: readonly Entry[],
  now: Date,
): Record<string, AssociationLine> {
  const deleted = entries.length > 0 ? entries : [emptyEntry];
  return presentEntries(
    association,
    deleted.map((entry) => ({ ...entry, status: 'UNSYNCED', updatedAt: now, lastError: null })),
  );
}

const emptyEntry: Entry = {
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

/** The status of a whole association, and when it last changed. */
export function presentSummary(
  { unnamedKeys, updatedAt }: Noted,
  entries: readonly Entry[],
): { sync_status: SyncStatus; updated_at: string } {
  const latest = Math.max(updatedAt.getTime(), ...entries.map((entry) => entry.updatedAt.getTime()));
  const statuses = [...unnamedKeys.map(() => unnamedStatus), ...entries.map(({ status }) => status)];
  return {
    sync_status: statuses.length === 0 ? 'SYNCED' : statusOfAll(statuses),
    updated_at: timestamp(new Date(latest)),
  };
}

const lineKey = ({ accessor, mount, secretName }: Named, subKey: string): string =>
  [accessor === '' ? mount : accessor, secretName, ...(subKey === '' ? [] : [subKey])].join('/');

/** ISO 8601 with a time zone offset (docs/conventions.md#56-association-objects). */
export const timestamp = (date: Date): string => date.toISOString().replace('Z', '+00:00');
