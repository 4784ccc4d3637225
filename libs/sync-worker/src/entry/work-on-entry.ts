import { pushedKey } from '@secrets/destinations';
import { Fault, type Json, nextStatus } from '@secrets/domain';
import { seal } from '@secrets/seal';
import {
  areDeletedDestinations,
  type ClaimedEntry,
  completeRemoval,
  wakeRivals,
} from '@secrets/sync-entries';
import { abortable } from '../driver/abortable.ts';
import type { ConnectedDestination, PutRequest, StartOptions } from '../driver/driver.ts';
import { overwriteDespite } from '../driver/ownership.ts';
import type { AttemptContext } from './entry-statements.ts';
import { PutStart, requireNoHolder } from './put-start.ts';
import { idempotencyToken, settingsHash } from './values/push-identity.ts';
import { valueHash } from './values/value-hash.ts';
import type { WorkerContext } from './worker-context.ts';

/** One attempt on a claimed entry. */
interface Attempt {
  entry: ClaimedEntry;
  context: AttemptContext;
  /** Aborts when the attempt must end, well before its lease does. */
  signal: AbortSignal;
  /** Called when the destination has answered. An attempt that needs no call says nothing about its lane. */
  onAnswer(): void;
}

type Worker = Pick<WorkerContext, 'db' | 'keyRing' | 'clients' | 'entries'>;

/**
 * Decides from the entry's intent and what is readable now, calls the driver, and records what was achieved. Returns
 * false if the lease was lost in the meantime. If it throws, the driver's `Fault` or anything else, nothing was recorded.
 */
export async function workOnEntry(worker: Worker, attempt: Attempt): Promise<boolean> {
  const { entry } = attempt;
  if (entry.isRefreshed) return refresh(worker, attempt);
  if (entry.desired === 'absent') {
    if (entry.isKept) await release(worker, attempt);
    else await remove(worker, attempt, entry);
    return completeRemoval(worker.db, entry);
  }
  const value = readValue(worker, attempt);
  if (value !== undefined) return push(worker, attempt, value);
  await remove(worker, attempt, { isRecoverable: true });
  const nothing = {
    status: nextStatus.nothing_readable(),
    pushedHash: null,
    settingsHash: null,
    remote: null,
  } as const;
  const isHeld = await worker.entries.statements.complete(entry, nothing);
  if (attempt.context.place.mayHaveRivals)
    await wakeRivals(worker.db, entry.destinationId, [entry.collisionKey]);
  return isHeld;
}

/**
 * Gives the newest value to an external secret that is only kept because the one that replaces it has failed, if its key still
 * exists. What is achieved is the intent before that of the removal.
 */
function refresh(worker: Worker, attempt: Attempt): Promise<boolean> {
  const { context } = attempt;
  const entry = { ...attempt.entry, generation: attempt.entry.generation - 1 };
  const value = context.value && worker.entries.values.pushedValue(context.value, keyOf(attempt));
  if (context.secretExists && value !== null && value !== undefined)
    return push(worker, { ...attempt, entry }, value);
  const { pushedHash, settingsHash: settings, remote } = entry;
  return worker.entries.statements.complete(entry, {
    status: nextStatus.pushed(),
    pushedHash: pushedHash ?? valueHash(worker.keyRing).of(''), // null would say that it was removed; what is unknown is verified
    settingsHash: settings,
    remote,
  });
}

async function push(worker: Worker, attempt: Attempt, value: string): Promise<boolean> {
  const { entry, context } = attempt;
  requireNoHolder(entry, context.place.rival);
  const settings = settingsHash(context.destination);
  const hash = valueHash(worker.keyRing);
  const compared = worker.entries.values.comparedValue(context.value!, keyOf(attempt))!;
  const isHashOf = (text: string) => entry.pushedHash !== null && hash.matches(text, entry.pushedHash);
  const isCompared = isHashOf(compared);
  const isSameValue = isCompared || isHashOf(value); // earlier versions stored the hash of the text
  const pushedHash = isCompared ? entry.pushedHash! : hash.of(compared);
  // An earlier attempt of this intent may have read, and written, another value than the one last pushed.
  const isUncertain = isSameValue && entry.attempts > 0;
  const verify = entry.verify || isUncertain || context.place.isOfEarlierScope;
  const isUnchanged = isSameValue && entry.settingsHash === settings && !verify;
  const valueChanged = !isSameValue || isUncertain;
  let { remote } = entry;
  if (!isUnchanged) {
    const textHash = compared === value ? pushedHash : hash.of(value);
    const written = await put(worker, attempt, { value, textHash, valueChanged, verify });
    if (written === undefined) return false;
    remote = written.remote;
  }
  return worker.entries.statements.complete(entry, {
    status: nextStatus.pushed(),
    pushedHash,
    settingsHash: settings,
    remote,
    isVerified: valueChanged || verify,
  });
}

interface PutOptions {
  value: string;
  /** The hash of the text, which makes a repeated put recognisable: equal JSON may be another text. */
  textHash: string;
  valueChanged: boolean;
  verify: boolean;
}

/** Returns undefined if the lease was lost before the driver wrote anything. */
async function put(
  worker: Worker,
  attempt: Attempt,
  { value, textHash, valueChanged, verify }: PutOptions,
): Promise<{ remote: Json } | undefined> {
  const { entry, context } = attempt;
  const start = new PutStart(worker.db, { ...entry, ...knownOf(attempt) }, attempt.signal);
  const request = {
    entryId: entry.id,
    externalName: entry.externalName,
    value: seal(value),
    idempotencyToken: idempotencyToken(entry, textHash),
    overwrite: entry.overwrite || context.destination.settings.conflict_policy === 'overwrite',
    ...knownOf(attempt),
    recordStart: (options?: StartOptions) => start.record(options),
    recordRemote: (remote: Json) => start.recordRemote(remote),
    valueHash: valueHash(worker.keyRing),
    valueChanged,
    verify,
  };
  try {
    return await putTakingOver(worker, attempt, request);
  } catch (error) {
    if (start.isLeaseLost) return undefined; // whatever the driver made of it
    await start.forgetIfRefused(error);
    throw error;
  }
}

/** Puts again if the external secret is one that deleted destinations have left behind, and may be taken over. */
async function putTakingOver(
  worker: Worker,
  attempt: Attempt,
  request: PutRequest,
): Promise<{ remote: Json }> {
  try {
    return await callDriver(worker, attempt, (connected, signal) => connected.put(request, signal));
  } catch (error) {
    const overwrite = await overwriteDespite(error, request, (ids) => areDeletedDestinations(worker.db, ids));
    if (overwrite === undefined) throw error;
    return putTakingOver(worker, attempt, { ...request, overwrite });
  }
}

/** Leaves an external secret that another destination of the place holds, or that it keeps. */
async function remove(
  worker: Worker,
  attempt: Attempt,
  { isRecoverable }: { isRecoverable: boolean },
): Promise<void> {
  const { rival } = attempt.context.place;
  if (rival?.isHolder || rival?.isWanted) return;
  const { id: entryId, externalName } = attempt.entry;
  const request = { entryId, externalName, ...knownOf(attempt), isRecoverable };
  await callDriver(worker, attempt, (connected, signal) => connected.remove(request, signal));
}

async function release(worker: Worker, attempt: Attempt): Promise<void> {
  const { id: entryId, externalName } = attempt.entry;
  const request = { entryId, externalName, ...knownOf(attempt) };
  await callDriver(worker, attempt, async (connected, signal) => connected.release?.(request, signal));
}

/**
 * Returns what earlier attempts have recorded, or nulls if the operator has since confirmed that the destination is another
 * place.
 */
const knownOf = ({ entry: { remote, putStartedAt }, context }: Attempt) =>
  context.place.isOfEarlierScope ? { remote: null, putStartedAt: null } : { remote, putStartedAt };

/** Ends at the time limit even if the driver ignores the signal. */
async function callDriver<T>(
  { clients }: Worker,
  { context, signal, onAnswer }: Attempt,
  call: (connected: ConnectedDestination, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const result = await clients.use(context.destination, (connected) =>
    abortable(call(connected, signal), signal, timedOut),
  );
  onAnswer();
  return result;
}

const timedOut = () => new Fault('unavailable', 'the destination did not respond in time');

/**
 * Returns undefined if no version is readable. Throws if a value cannot be decrypted: unknown is not absent. Throws `rejected`
 * if the secret or the key is gone: then sync-control decides whether the external secret is removed or held.
 */
function readValue({ entries }: Worker, attempt: Attempt): string | undefined {
  const { value, secretExists } = attempt.context;
  if (!secretExists) throw sourceGone('secret');
  if (value === null) return undefined;
  const pushed = entries.values.pushedValue(value, keyOf(attempt));
  if (pushed !== undefined) return pushed;
  throw attempt.entry.subKey === '' ? withoutValueKey(keyOf(attempt)) : sourceGone('key');
}

const keyOf = ({ entry, context: { destination, source } }: Attempt): string =>
  pushedKey({ ...destination.settings, ...source.naming }, entry.subKey);

const withoutValueKey = (key: string) =>
  new Fault(
    'rejected',
    `the secret has no key ${key}, which is to be pushed (value_key); the external secret is kept as it is`,
  );

const sourceGone = (what: 'secret' | 'key') =>
  new Fault(
    'rejected',
    `the ${what} no longer exists; the external secret is kept until its removal is requested`,
  );
