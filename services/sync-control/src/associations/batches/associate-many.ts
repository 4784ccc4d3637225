import type { Caller } from '@secrets/caller';
import { isUniqueViolation } from '@secrets/db';
import { Problem } from '@secrets/domain';
import type { WatchedList } from '../../changes/secrets-client.ts';
import type { Context } from '../../context.ts';
import { requireDestination } from '../../destinations/require-destination.ts';
import type { DestinationRow } from '../../queries/destinations/destinations.ts';
import { associate } from '../associate.ts';
import { withNaming } from '../planning/naming.ts';
import { requireSyncableKeys } from '../planning/require-syncable-keys.ts';
import { noReadAccess, requireSyncable } from '../require-settable.ts';
import {
  type ManyRequest,
  Overtaken,
  type ReadSecret,
  recordIntents,
  type SetOutcome,
  type SetOutcomes,
} from './record-intents.ts';

/** Secrets that are read together. */
export const secretsAtOnce = 100;

/** Entries of one transaction, except those of a single secret. */
const entriesAtOnce = 1_000;

/**
 * Sets associations of at most `secretsAtOnce` different secrets of one mount, like `associate` for each of them, without waiting
 * for their outcomes. New ones are written in as few transactions as possible; what cannot be is set alone. One that is refused
 * does not stop the others. If two would have one external name, the first one has it. Returns the results in the order of the
 * names.
 * @throws what is no problem; what was set until then stays, and can be set again
 */
export async function associateMany(
  context: Context,
  caller: Caller,
  request: ManyRequest,
  secretNames: readonly string[],
): Promise<SetOutcome[]> {
  const many = { context, caller, request };
  const outcomes: SetOutcomes = new Map();
  try {
    const stored = await requireDestination(context, caller, request);
    const destination = withNaming(stored, request.heldBy?.naming);
    const names = await withoutUnreadable(many, secretNames, outcomes);
    await setReadable({ ...many, destination }, names, outcomes);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    for (const name of secretNames) if (!outcomes.has(name)) outcomes.set(name, { problem: error });
  }
  context.queue.notify(request.type);
  return secretNames.map((name) => outcomes.get(name)!);
}

interface Many {
  context: Context;
  caller: Caller;
  request: ManyRequest;
}

type ManyOf = Many & { destination: DestinationRow };

/** Returns the names of those that the caller may read, and refuses the others. */
async function withoutUnreadable(
  { context, caller, request: { mount } }: Many,
  secretNames: readonly string[],
  outcomes: SetOutcomes,
): Promise<string[]> {
  const requests = secretNames.map(
    (name) => ({ path: `${mount}/data/${name}`, capability: 'read' }) as const,
  );
  const permitted = await context.policies.mayDoEach(caller, requests);
  for (const [at, secretName] of secretNames.entries())
    if (!permitted[at]) outcomes.set(secretName, { problem: noReadAccess({ mount, secretName }) });
  return secretNames.filter((_, at) => permitted[at]);
}

/** Problems of a list that only one of its secrets may have, or that a service of the version before has with lists. */
const ofOneSecret: ReadonlySet<Problem['kind']> = new Set(['invalid', 'not_found']);

async function setReadable(many: ManyOf, secretNames: readonly string[], outcomes: SetOutcomes) {
  if (secretNames.length === 0) return;
  const { context, caller, request, destination } = many;
  const { granularity, value_key: valueKey = '' } = destination.settings;
  const needsKeys = granularity === 'secret-key' || valueKey !== '';
  let list: WatchedList;
  try {
    list = await context.secrets.watchSeveral(caller, request.mount, secretNames, needsKeys);
  } catch (error) {
    if (error instanceof Problem && ofOneSecret.has(error.kind))
      return setOneByOne(many, secretNames, outcomes);
    throw error;
  }
  const secrets: ReadSecret[] = [];
  for (const [at, secretName] of secretNames.entries()) {
    const secret = syncable(many, secretName, list.secrets[at]!);
    if (secret instanceof Problem) outcomes.set(secretName, { problem: secret });
    else secrets.push(secret);
  }
  for (const group of groupsOf(secrets, granularity === 'secret-key'))
    await setGroup(many, { list, secrets: group }, outcomes);
}

/** The secret if its state permits an association, otherwise why not. */
function syncable(
  { request: { mount }, destination }: ManyOf,
  secretName: string,
  { keys, ...secret }: WatchedList['secrets'][number],
): ReadSecret | Problem {
  const named = { mount, secretName };
  if (keys === null) {
    const sentence = `secret_name: the value of ${secretName} in mount ${mount} cannot be read`;
    return new Problem('conflict', sentence);
  }
  try {
    requireSyncable(secret, named);
    requireSyncableKeys({ keys }, named, destination);
    return { secretName, secretId: secret.secret_id!, revision: secret.revision, keys };
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

/** The number of entries of a secret. */
const operationsOf = ({ keys }: ReadSecret, isByKey: boolean): number => (isByKey ? keys.length : 1);

function groupsOf(secrets: readonly ReadSecret[], isByKey: boolean): ReadSecret[][] {
  const groups: ReadSecret[][] = [];
  let room = 0;
  for (const secret of secrets) {
    const operations = operationsOf(secret, isByKey);
    if (groups.length === 0 || operations > room) {
      groups.push([]);
      room = entriesAtOnce;
    }
    groups.at(-1)!.push(secret);
    room -= operations;
  }
  return groups;
}

async function setGroup(
  many: ManyOf,
  { list, secrets }: { list: WatchedList; secrets: readonly ReadSecret[] },
  outcomes: SetOutcomes,
): Promise<void> {
  const { context, destination } = many;
  const isByKey = destination.settings.granularity === 'secret-key';
  const operations = secrets.reduce((sum, secret) => sum + operationsOf(secret, isByKey), 0);
  const hasRoom = (await context.queue.room.whyFull(operations)) === undefined;
  if (hasRoom) {
    const recorded = await context.db
      .transaction((tx) => recordIntents(tx, many, { list, secrets }))
      .catch(noneIfOvertaken);
    for (const [name, outcome] of recorded) outcomes.set(name, outcome);
  }
  const rest = secrets.map(({ secretName }) => secretName).filter((name) => !outcomes.has(name));
  await setOneByOne(many, rest, outcomes);
}

/** If another transaction takes one of the names, or changes the destination, each is set alone. */
function noneIfOvertaken(error: unknown): SetOutcomes {
  if (error instanceof Overtaken) return new Map();
  if (isUniqueViolation(error, 'entries_destination_id_collision_key_key')) return new Map();
  throw error;
}

/** Problems that the next secret would have as well. */
const ofAll: ReadonlySet<Problem['kind']> = new Set(['queue_full', 'unavailable']);

async function setOneByOne(
  { context, caller, request }: Many,
  secretNames: readonly string[],
  outcomes: SetOutcomes,
): Promise<void> {
  for (const secretName of secretNames) {
    try {
      outcomes.set(secretName, { id: await associate(context, caller, { ...request, secretName }, 0) });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      // A rule continues later at the first one.
      if (request.heldBy !== undefined && ofAll.has(error.kind)) throw error;
      outcomes.set(secretName, { problem: error });
    }
  }
}
