import type { Db } from '@secrets/db';
import { Fault, nextStatus, versionAad } from '@secrets/domain';
import { decrypt, type KeyRing, keyedHash, matchesKeyedHash, seal } from '@secrets/seal';
import { type ClaimedEntry, completeRemoval, type EntryContext } from '@secrets/sync-entries';
import type { Clients } from './clients.ts';
import type { EntryStatements } from './entry-statements.ts';
import { idempotencyToken, pushedValue, settingsHash } from './pushed-value.ts';

/** What one attempt on an entry needs. */
export interface AttemptContext {
  db: Db;
  statements: EntryStatements;
  keyRing: KeyRing;
  clients: Clients;
  /** Aborted when the attempt must end: well before its lease does. */
  signal: AbortSignal;
}

const hashPurpose = 'pushed value';

/**
 * One attempt on a claimed entry: decides from what is wanted and what is readable now, calls the driver, and records
 * what was achieved. Throws the driver's `Fault`, or whatever else went wrong; then nothing was recorded.
 * Gives false when the lease was lost meanwhile.
 */
export async function workOnEntry(
  attempt: AttemptContext,
  entry: ClaimedEntry,
  context: EntryContext,
): Promise<boolean> {
  if (entry.desired === 'absent') {
    await remove(attempt, entry, context);
    return completeRemoval(attempt.db, entry);
  }
  const value = readValue(attempt.keyRing, entry, context);
  if (value !== undefined) return push(attempt, entry, context, value);
  await remove(attempt, entry, context);
  const nothing = {
    status: nextStatus.nothing_readable(),
    pushedHash: null,
    settingsHash: null,
    remote: null,
  } as const;
  return attempt.statements.complete(entry, nothing);
}

async function push(
  attempt: AttemptContext,
  entry: ClaimedEntry,
  context: EntryContext,
  value: string,
): Promise<boolean> {
  const settings = settingsHash(context.destination);
  const same =
    entry.pushedHash !== null && matchesKeyedHash(attempt.keyRing, hashPurpose, value, entry.pushedHash);
  const pushedHash = same ? entry.pushedHash! : keyedHash(attempt.keyRing, hashPurpose, value);
  const unchanged = same && entry.settingsHash === settings && !entry.verify;
  const remote = unchanged
    ? entry.remote
    : await put(attempt, entry, context, { value, pushedHash, valueChanged: !same });
  return attempt.statements.complete(entry, {
    status: nextStatus.pushed(),
    pushedHash,
    settingsHash: settings,
    remote,
  });
}

async function put(
  attempt: AttemptContext,
  entry: ClaimedEntry,
  context: EntryContext,
  { value, pushedHash, valueChanged }: { value: string; pushedHash: string; valueChanged: boolean },
) {
  const request = {
    entryId: entry.id,
    externalName: entry.externalName,
    value: seal(value),
    idempotencyToken: idempotencyToken(entry, pushedHash),
    overwrite: entry.overwrite || context.destination.settings.conflict_policy === 'overwrite',
    remote: entry.remote,
    valueChanged,
    verify: entry.verify,
  };
  const { remote } = await attempt.clients.use(context.destination, (connected) =>
    abortable(attempt.signal, connected.put(request, attempt.signal)),
  );
  return remote;
}

async function remove(attempt: AttemptContext, entry: ClaimedEntry, context: EntryContext): Promise<void> {
  const request = { entryId: entry.id, externalName: entry.externalName, remote: entry.remote };
  await attempt.clients.use(context.destination, (connected) =>
    abortable(attempt.signal, connected.remove(request, attempt.signal)),
  );
}

/** The value to push, or undefined when nothing is readable. What cannot be opened throws: unknown is not absent. */
function readValue(keyRing: KeyRing, entry: ClaimedEntry, { value }: EntryContext): string | undefined {
  if (value === null) return undefined;
  const dataText = decrypt(keyRing, versionAad(value.location), value.sealed).toString('utf8');
  return pushedValue(dataText, entry.subKey);
}

/** Rejects when the signal aborts: a driver that ignores it must not hold the entry past its time limit. */
function abortable<T>(signal: AbortSignal, call: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new Fault('unavailable', 'the destination did not answer in time'));
    if (signal.aborted) late();
    signal.addEventListener('abort', late, { once: true });
    call.then(resolve, reject).finally(() => signal.removeEventListener('abort', late));
  });
}
