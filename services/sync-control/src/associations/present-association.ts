import { type Drift, type Evidence, type SyncStatus, statusOfAll } from '@secrets/domain';
import type { Entry } from '@secrets/sync-entries';
import type { Held } from '../destinations/rules/holders.ts';
import type { AssociationRow, UnnamedKey } from '../queries/associations/associations.ts';

/** One line of `associated_secrets` (docs/conventions/sync.md#association-objects). */
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
  verified_at: string | null;
  drift: Drift | null;
  drift_seen_at: string | null;
  evidence: Evidence | null;
  held_by_hand: boolean;
  held_by_rules: readonly string[];
}

/** `accessor` is empty for an association that does not exist, so that it does not reveal whether the mount exists. */
type Named = Pick<AssociationRow, 'accessor' | 'mount' | 'secretName'> & Held;
type Noted = Pick<AssociationRow, 'unnamedKeys' | 'updatedAt'>;

/** A line with what its key is joined from: the accessor, the name of the secret and, at secret-key granularity, the key. */
export interface KeyedLine {
  path: readonly string[];
  line: AssociationLine;
}

/**
 * One association: one line for each key at secret-key granularity, otherwise one line. Keys that cannot be synced have
 * a line with the reason.
 */
export function presentAssociation(association: Named & Noted, entries: readonly Entry[]): KeyedLine[] {
  const lines = presentEntries(association, entries);
  const shown = new Set(lines.map(({ path }) => path[2]));
  const unnamed = association.unnamedKeys
    .filter(({ key }) => !shown.has(key))
    .map((key) => ({
      path: [...pathOf(association), key.key],
      line: presentUnnamedKey(association, key),
    }));
  return [...unnamed, ...lines];
}

/**
 * The lines of entries alone. While a renamed external secret is replaced, two entries have the same key; its line shows
 * the more urgent one.
 */
export function presentEntries(association: Named, entries: readonly Entry[]): KeyedLine[] {
  const entriesByKey = Map.groupBy(entries, ({ subKey }) => subKey);
  return [...entriesByKey].map(([subKey, sameKey]) => ({
    path: [...pathOf(association), ...(subKey === '' ? [] : [subKey])],
    line: presentEntry(association, findMostUrgent(sameKey)),
  }));
}

const joined = ({ path }: KeyedLine): string => path.join('/');
const escaped = ({ path }: KeyedLine): string => path.map(encodeURIComponent).join('/');

/**
 * Returns `associated_secrets`. Names of secrets and keys may contain slashes, so two lines can join to one text (`s` + `a/b`,
 * `s/a` + `b`). The line of the shortest secret name has it; the names and keys of the others are percent-encoded.
 *
 * So the key depends on the other lines of the page. No key of the line alone could do: clients know each of the two by the
 * joined text where it is the only one. The fields of a line identify it on every page.
 */
export function linesByKey(lines: readonly KeyedLine[]): Record<string, AssociationLine> {
  const owners = new Map<string, KeyedLine>();
  for (const line of lines.toSorted((one, other) => secretLength(other) - secretLength(one)))
    owners.set(joined(line), line);
  const isOwner = (line: KeyedLine) => owners.get(joined(line)) === line;
  const byKey = keyed(lines, (line) => (isOwner(line) ? joined(line) : escaped(line)));
  return Object.keys(byKey).length === lines.length ? byKey : keyed(lines, escaped);
}

const secretLength = ({ path }: KeyedLine): number => path[1]!.length;

const keyed = (lines: readonly KeyedLine[], keyOf: (line: KeyedLine) => string) =>
  Object.fromEntries(lines.map((each) => [keyOf(each), each.line]));

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
  next_attempt_at: timestampOrNull(entry.nextAttemptAt),
  last_error: entry.lastError,
  verified_at: timestampOrNull(entry.verifiedAt),
  drift: entry.drift,
  drift_seen_at: timestampOrNull(entry.driftSeenAt),
  evidence: entry.evidence,
  held_by_hand: association.heldBy.byHand,
  held_by_rules: association.heldBy.rules,
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
  verified_at: null,
  drift: null,
  drift_seen_at: null,
  evidence: null,
  held_by_hand: association.heldBy.byHand,
  held_by_rules: association.heldBy.rules,
});

/** Returns the lines that remove responds with, for the external secrets that are being deleted. */
export function presentUnsynced(association: Named, entries: readonly Entry[], now: Date): KeyedLine[] {
  const deleted = entries.length > 0 ? entries : [emptyEntry];
  return presentEntries(
    association,
    deleted.map((entry) => ({
      ...entry,
      ...unverified,
      status: 'UNSYNCED',
      updatedAt: now,
      lastError: null,
    })),
  );
}

const unverified = { verifiedAt: null, drift: null, driftSeenAt: null, evidence: null };

const emptyEntry: Entry = {
  ...unverified,
  id: '',
  associationId: '',
  destinationId: '',
  subKey: '',
  desired: 'absent',
  waitsFor: null,
  externalName: '',
  collisionKey: '',
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

const pathOf = ({ accessor, mount, secretName }: Named): string[] => [
  accessor === '' ? mount : accessor,
  secretName,
];

/** ISO 8601 with a time zone offset (docs/conventions/sync.md#association-objects). */
export const timestamp = (date: Date): string => date.toISOString().replace('Z', '+00:00');

const timestampOrNull = (date: Date | null): string | null => (date === null ? null : timestamp(date));
