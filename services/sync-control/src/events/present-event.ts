import { pauseReason } from '../destinations/status/present-pause.ts';
import type { EventRow } from '../queries/events.ts';

/** Whether the policies of a listener allow it to read a path of its namespace. */
export type MayRead = (path: string) => boolean;

interface Namespace {
  id: string;
  path: string;
}

/**
 * Presents the part of an event that a listener may see, without ID, time and kind; undefined if there is none. A listener sees
 * what it could read from an endpoint that its policies allow (docs/conventions/sync-operation.md#live-events).
 */
export function presentEvent(
  row: EventRow,
  { id, path }: Namespace,
  mayRead: MayRead,
): Record<string, unknown> | undefined {
  const shown = isSentTo(row, id) ? fieldsOf(row, mayRead) : undefined;
  return shown && { namespace: path, ...shown };
}

/**
 * Whether a namespace receives an event. An event without a namespace and a lane is for all namespaces, unless its
 * object is gone.
 */
const isSentTo = ({ namespaceId, namespacesOfLane, kind, laneId }: EventRow, id: string): boolean =>
  laneId === null ? namespaceId === id || kind in switches : namespacesOfLane.includes(id);

type Fields = Record<string, unknown> | undefined;
type Present = (row: EventRow, mayRead: MayRead) => Fields;

function fieldsOf(row: EventRow, mayRead: MayRead): Fields {
  const { kind, laneId, destinationType, destinationName } = row;
  if (kind in switches) return switches[kind]!(row, mayRead);
  if (laneId !== null) return ofLane(row, mayRead);
  if (destinationType === null || destinationName === null) return undefined;
  const ofOther = kind.startsWith('rule_') ? ofRule : ofDestination;
  const present = kindsOfAssociation.test(kind) ? ofAssociation : ofOther;
  const fields = present(row, mayRead);
  return fields && { type: destinationType, name: destinationName, ...fields };
}

const kindsOfAssociation = /^entry$|^association_|^drift_/;

const statusPath = 'sys/sync/status';

const ofSwitch: Present = (_row, mayRead) => (mayRead(statusPath) ? {} : undefined);

const switches: Readonly<Record<string, Present>> = {
  ...{ sync_disabled: ofSwitch, sync_enabled: ofSwitch },
  ...{ sync_held: ofSwitch, sync_released: ofSwitch },
  recovery_token_created: ofSwitch,
};

const ofLane: Present = ({ laneId, destinationType, fault, pausedUntil }, mayRead) =>
  mayRead('sys/sync/lanes')
    ? { lane: laneId, type: destinationType, ...pauseOf('account', fault, pausedUntil) }
    : undefined;

/** The name of the rule is the work. */
const ofRule: Present = ({ destinationType, destinationName, work, mount, secretName }, mayRead) => {
  if (!mayRead(`sys/sync/destinations/${destinationType}/${destinationName}/rules/${work}`)) return undefined;
  return secretName === null ? { rule: work } : { rule: work, mount, secret_name: secretName };
};

const ofDestination: Present = (
  { kind, destinationType, destinationName, work, fault, pausedUntil },
  mayRead,
) => {
  const isPause = kind === 'destination_paused' || kind === 'destination_reopened';
  const path = isPause ? statusPath : `sys/sync/destinations/${destinationType}/${destinationName}`;
  if (!mayRead(path)) return undefined;
  if (isPause) return pauseOf('destination', fault, pausedUntil);
  return work === null ? {} : { work };
};

const pauseOf = (of: 'account' | 'destination', fault: EventRow['fault'], until: Date | null) => ({
  reason: until === null ? null : pauseReason(of, fault),
  paused_until: until?.toISOString() ?? null,
});

const ofAssociation: Present = (row, mayRead) => {
  const { kind, mount, secretName, destinationType, destinationName } = row;
  if (mount === null || secretName === null) return undefined;
  const named = { mount, secret_name: secretName };
  const ofDrift = kind.startsWith('drift_');
  if (mayRead(`sys/sync/destinations/${destinationType}/${destinationName}/associations`))
    return { ...named, ...(kind === 'entry' ? wholeEntry(row) : ofDrift ? wholeDrift(row) : {}) };
  if (ofDrift || !mayRead(`sys/sync/associations/${mount}/${secretName}`)) return undefined;
  return kind === 'entry' ? { ...named, sync_status: row.status } : named;
};

const wholeDrift = ({ subKey, externalName, drift }: EventRow) => ({
  sub_key: subKey,
  external_name: externalName,
  drift,
});

const wholeEntry = ({ subKey, externalName, status, outcome, fault, error, attempts }: EventRow) => ({
  sub_key: subKey,
  external_name: externalName,
  sync_status: status,
  outcome,
  fault,
  last_error: error,
  attempts,
});
