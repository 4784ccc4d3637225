import { setTimeout as sleep } from 'node:timers/promises';
import type { Caller } from '@secrets/caller';
import { Problem, requireFound } from '@secrets/domain';
import {
  type EndedLook,
  endedLooks,
  type Inspectable,
  listInspectable,
  useSpareBudget,
} from '@secrets/sync-entries';
import type { Context } from '../context.ts';
import { type DestinationRef, requireDestination } from '../destinations/require-destination.ts';
import { budgetSpent, requireCallable } from '../destinations/status/require-callable.ts';
import { type AssociationRow, findAssociationByMount } from '../queries/associations/associations.ts';
import type { DestinationRow } from '../queries/destinations/destinations.ts';

interface InspectionRequest extends DestinationRef {
  mount: string;
  secretName: string;
}

interface Inspection {
  association: AssociationRow;
  /** About external secrets that were not looked at, or of which a look has proved nothing. */
  warnings: string[];
}

/** External secrets that one request looks at, at most. */
const maxLooks = 100;
/** Looks of one request at the same time: a worker has the other slots for what was requested meanwhile. */
const atOnce = 2;
const waitSeconds = 20;
const pollMs = 100;

/**
 * Has a worker look at the external secrets of an association, and record whether they are still what was pushed
 * (docs/conventions/drift.md). Nothing is repaired. Throws as `requireCallable`, `not_found`
 * if there is no such association, `rate_limited` if the budget of the account has no call to spare, and `unavailable` if no
 * look has ended in time.
 */
export async function inspectAssociation(
  context: Context,
  caller: Caller,
  request: InspectionRequest,
): Promise<Inspection> {
  const { db, queue } = context;
  const destination = await requireDestination(context, caller, request);
  const { mount, secretName } = request;
  const association = requireFound(await findAssociationByMount(db, destination.id, mount, secretName));
  await requireCallable(db, destination);
  const wanted = await listInspectable(db, association.id, maxLooks + 1);
  if (wanted.length === 0)
    return { association, warnings: ['nothing can be looked at before it has been synced'] };
  const budget = queue.budgets[destination.type]!;
  const calls = await useSpareBudget(db, destination.id, Math.min(wanted.length, maxLooks), budget);
  if (calls === 0) throw budgetSpent(1, budget.perSecond);
  const ended = await look(context, destination, wanted.slice(0, calls));
  if (ended.length === 0)
    throw new Problem(
      'unavailable',
      `no worker of type ${destination.type} has looked within ${waitSeconds} s`,
    );
  return { association, warnings: warningsOf(ended, wanted.length) };
}

/** Sends each message when an earlier look has ended. Returns the looks that have ended in time. */
async function look(
  { db, queue }: Context,
  { id, type }: DestinationRow,
  requested: readonly Inspectable[],
): Promise<EndedLook[]> {
  const untilMs = performance.now() + waitSeconds * 1_000;
  let sent = 0;
  let ended: EndedLook[] = [];
  while (ended.length < requested.length && performance.now() < untilMs) {
    for (; sent < Math.min(requested.length, ended.length + atOnce); sent += 1)
      await queue.publish(type, { entry_id: requested[sent]!.id, destination_id: id, look: true });
    await sleep(pollMs);
    ended = await endedLooks(db, requested.slice(0, sent));
  }
  return ended;
}

const shown = 10;

function warningsOf(ended: readonly EndedLook[], wanted: number): string[] {
  const failed = ended
    .filter(({ error }) => error !== null)
    .map(({ externalName, error }) => `${JSON.stringify(externalName)} was not verified: ${error}`);
  const hidden = failed.length > shown ? [`${failed.length - shown} others were not verified either`] : [];
  const isAll = ended.length >= wanted;
  const rest = 'some external secrets were not looked at; the same request continues with them';
  return [...failed.slice(0, shown), ...hidden, ...(isAll ? [] : [rest])];
}
