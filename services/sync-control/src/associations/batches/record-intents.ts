import type { Caller } from '@secrets/caller';
import type { Tx } from '@secrets/db';
import { findDescription } from '@secrets/destinations';
import { Problem } from '@secrets/domain';
import { insertEntriesOf, liftPause, type NewEntry } from '@secrets/sync-entries';
import type { WatchedList } from '../../changes/secrets-client.ts';
import type { Context } from '../../context.ts';
import { requireInUse } from '../../destinations/background/require-no-purge.ts';
import { requireLockedDestination } from '../../destinations/require-destination.ts';
import {
  type ExistingAssociation,
  insertAssociations,
  lockAssociationsByName,
} from '../../queries/associations/associations.ts';
import type { DestinationRow } from '../../queries/destinations/destinations.ts';
import { addHolds, type HoldingRule } from '../../queries/rules/rule-holds.ts';
import { type AssociationRequest, requireHoldable } from '../associate.ts';
import { whyOtherNaming, withNaming } from '../planning/naming.ts';
import { holdersOf } from '../planning/taken-names.ts';
import { namingSchemeOf, wantedEntries } from '../planning/wanted-entries.ts';
import { requireOverwriteAccess } from '../require-overwrite-access.ts';
import { divideByNames } from './free-names.ts';

/** Sets associations of secrets of one mount. */
export type ManyRequest = Omit<AssociationRequest, 'secretName'>;

/** The result for one secret: the ID of its association, or why it has none. */
export type SetOutcome = { id: string } | { problem: Problem };

/** The outcomes of secrets, by their names. */
export type SetOutcomes = Map<string, SetOutcome>;

/** A secret that can be associated, as far as its own state decides that. */
export interface ReadSecret {
  secretName: string;
  secretId: string;
  revision: number;
  keys: readonly string[];
}

/** The naming scheme of the destination is no longer that for which the secrets were read. */
export class Overtaken extends Error {}

interface Recorder {
  context: Context;
  caller: Caller;
  request: ManyRequest;
  /** The destination for which the secrets were read. */
  destination: DestinationRow;
}

/**
 * Writes the intents of new associations, which the queue has room for, and the holds of a rule on existing ones. Returns the
 * outcomes, without those of existing associations that have to be set. Throws the problems of the destination and of the rule.
 * @throws Overtaken if the naming scheme was changed
 * @throws a unique violation if another transaction takes one of the names
 */
export async function recordIntents(
  tx: Tx,
  recorder: Recorder,
  { list, secrets }: { list: WatchedList; secrets: readonly ReadSecret[] },
): Promise<SetOutcomes> {
  const { caller, request } = recorder;
  const locked = await requireLockedDestination(tx, caller, request);
  const destination = withNaming(locked, request.heldBy?.naming);
  await requireSettable(tx, recorder, destination);
  const names = secrets.map(({ secretName }) => secretName);
  const existing = await lockAssociationsByName(tx, destination.id, list.accessor, names);
  const outcomes = await holdExisting(tx, request.heldBy, existing, secrets);
  const existingNames = new Set(existing.map(({ secretName }) => secretName));
  const fresh = secrets.filter(({ secretName }) => !existingNames.has(secretName));
  const named = namedEntries({ ...recorder, destination }, list, fresh, outcomes);
  const taken = await holdersOf(
    tx,
    destination.id,
    named.flatMap(({ entries }) => entries),
  );
  const { free, refused } = divideByNames(list.mount_path, named, taken);
  for (const [name, problem] of refused) outcomes.set(name, { problem });
  const ids = await insertAll(tx, { ...recorder, destination }, list, free);
  for (const [name, id] of ids) outcomes.set(name, { id });
  return outcomes;
}

async function requireSettable(
  tx: Tx,
  { caller, request: { overwrite, heldBy }, destination: before }: Recorder,
  destination: DestinationRow,
): Promise<void> {
  if (overwrite) requireOverwriteAccess(caller, destination);
  if (heldBy !== undefined) await requireHoldable(tx, destination, heldBy);
  else {
    await requireInUse(tx, destination);
    await liftPause(tx, destination.id);
  }
  const [read, now] = [before, destination].map((one) => JSON.stringify(settingsOfKeys(one)));
  if (read !== now) throw new Overtaken();
}

/** The settings that decide which keys of a secret are read. */
const settingsOfKeys = ({ settings: { granularity, value_key: key = '' } }: DestinationRow) => [
  granularity,
  key,
];

/** Has a rule hold the associations that need no push. */
async function holdExisting(
  tx: Tx,
  rule: HoldingRule | undefined,
  existing: readonly ExistingAssociation[],
  secrets: readonly ReadSecret[],
): Promise<SetOutcomes> {
  if (rule === undefined) return new Map();
  const idOf = new Map(secrets.map(({ secretName, secretId }) => [secretName, secretId]));
  const held = existing.filter(
    ({ isEnding, secretId, secretName }) => !isEnding && secretId === idOf.get(secretName),
  );
  const outcomes = held.map(({ secretName, id, naming }): [string, SetOutcome] => {
    const why = whyOtherNaming(rule.naming, naming);
    return [secretName, why === undefined ? { id } : { problem: new Problem('conflict', why) }];
  });
  await addHolds(
    tx,
    rule,
    outcomes.flatMap(([, outcome]) => ('id' in outcome ? [outcome.id] : [])),
  );
  return new Map(outcomes);
}

interface NamedSecret extends ReadSecret {
  entries: NewEntry[];
}

/** The external secrets that each needs; refuses those whose names the destination does not allow. */
function namedEntries(
  { context: { prefix }, caller: { namespace }, destination }: Recorder,
  { mount_path: mount, accessor }: WatchedList,
  secrets: readonly ReadSecret[],
  outcomes: SetOutcomes,
): NamedSecret[] {
  const description = findDescription(destination.type);
  const shaped = { ...destination, shape: namingSchemeOf(destination) };
  return secrets.flatMap((secret) => {
    const named = { mount, accessor, namespace, ...secret };
    try {
      return [{ ...secret, entries: wantedEntries(description, shaped, named, prefix) }];
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      outcomes.set(secret.secretName, { problem: error });
      return [];
    }
  });
}

/** Returns the IDs of the new associations by name, without those that another transaction has created. */
async function insertAll(
  tx: Tx,
  { caller, request: { heldBy, overwrite }, destination }: Recorder,
  { mount_id: mountId, mount_path: mount, accessor }: WatchedList,
  secrets: readonly NamedSecret[],
): Promise<Map<string, string>> {
  if (secrets.length === 0) return new Map();
  const place = { destinationId: destination.id, namespaceId: caller.namespace.id, mountId, mount, accessor };
  const common = {
    ...place,
    shape: namingSchemeOf(destination),
    naming: heldBy?.naming ?? null,
    byHand: heldBy === undefined,
  };
  const ids = await insertAssociations(tx, common, secrets);
  if (heldBy !== undefined) await addHolds(tx, heldBy, [...ids.values()]);
  const entries = secrets.flatMap(({ secretName, entries }) => {
    const associationId = ids.get(secretName);
    return associationId === undefined ? [] : entries.map((entry) => ({ ...entry, associationId }));
  });
  const { id: destinationId, type: destinationType } = destination;
  await insertEntriesOf(tx, { destinationId, destinationType }, entries, { overwrite });
  return ids;
}
