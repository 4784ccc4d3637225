import { randomUUID } from 'node:crypto';
import type { Tx } from '@secrets/db';
import { findDescription } from '@secrets/destinations';
import { type LookPageMessage, maxPageOfLooks } from '@secrets/domain';
import type { Budget } from '@secrets/scheduler';
import {
  countDue,
  deferInspection,
  dueInspectionTypes,
  endInspectionPage,
  type Inspection,
  keptCalls,
  lockDueInspection,
  readInspectionPage,
  startInspectionPage,
  useSpareBudget,
} from '@secrets/sync-entries';
import type { Context } from '../../../context.ts';
import { cutPage } from './cut-page.ts';
import { type Visit, visitOf } from './inspection-schedule.ts';

type Looking = Pick<Context, 'db' | 'queue'>;

/** Entries that are read to find those of a page, how many are looked at, and the share of the budget that other work keeps. */
const sizes = {
  small: { readAtOnce: 200, max: maxPageOfLooks.byPeriod, keptShare: 1 / 2 },
  large: { readAtOnce: 1_000, max: maxPageOfLooks.requested, keptShare: 1 / 4 },
};

/**
 * Calls that are taken at once for a page of many entries that lists may serve: for the lists, and for looks at what they do not
 * show. The worker returns what it does not use. For what it uses more, the next page waits.
 */
const callsBesideLists = 25;

/** Without a call to spare in the account, its looks wait for this time. */
const withoutBudgetMs = 5_000;

/** Visits of a type in a row. */
const maxVisits = 50;

/**
 * Continues the looks at everything, where they are due: sends a page of each destination to a worker, with calls that the budget
 * of its account can spare. The next page is sent when the worker has ended it. A process may die at any time: a page that is not
 * ended in time is sent again.
 */
export async function advanceInspections(context: Looking, isStopping: () => boolean): Promise<void> {
  for (const type of await dueInspectionTypes(context.db)) {
    for (let visits = 0; visits < maxVisits && !isStopping(); visits += 1)
      if (!(await advanceInspection(context, type))) break;
  }
}

/** Sees to the inspection of a type that has been due for longest. Returns whether there was one. */
export async function advanceInspection({ db, queue }: Looking, type: string): Promise<boolean> {
  const sent = await db.transaction(async (tx) => {
    const inspection = await lockDueInspection(tx, type);
    if (inspection === undefined) return undefined;
    const visit = visitOf(type, inspection);
    if (visit.kind === 'page') return { message: await nextPage(tx, { queue, type, inspection }, visit) };
    await deferInspection(tx, inspection.destinationId, visit.kind === 'later' ? visit.ms : undefined);
    return { message: undefined };
  });
  if (sent?.message !== undefined) await queue.publish(type, sent.message);
  return sent !== undefined;
}

/** Records the next page. Returns undefined if nothing is to be looked at now. */
async function nextPage(
  tx: Tx,
  { queue, type, inspection }: Pick<Looking, 'queue'> & { type: string; inspection: Inspection },
  { sinceSeconds, isRequested }: Extract<Visit, { kind: 'page' }>,
): Promise<LookPageMessage | undefined> {
  const { destinationId, position: after } = inspection;
  const { looksByList = false } = findDescription(type);
  const { readAtOnce, max, keptShare } = sizes[isRequested || looksByList ? 'large' : 'small'];
  const entries = await readInspectionPage(tx, destinationId, { after, limit: readAtOnce, sinceSeconds });
  const isLast = entries.length < readAtOnce;
  const whole = cutPage(entries, max, isLast);
  const spare = { budget: queue.budgets[type]!, keptShare };
  const calls = await takeBudget(
    tx,
    destinationId,
    looksByList ? Math.min(callsBesideLists, whole.ids.length) : whole.ids.length,
    spare,
  );
  if (calls === 0 && whole.ids.length > 0) {
    await deferInspection(tx, destinationId, withoutBudgetMs);
    return undefined;
  }
  const { ids, end, seen } =
    looksByList || calls === whole.ids.length ? whole : cutPage(entries, calls, isLast);
  const pageId = randomUUID();
  await startInspectionPage(tx, destinationId, { id: pageId, end, seen });
  const [first] = ids;
  if (first !== undefined)
    return {
      entry_id: first,
      destination_id: destinationId,
      look: true,
      page_id: pageId,
      entry_ids: ids,
      calls,
      call_ms: 1_000 / spare.budget.perSecond,
      requested: isRequested,
    };
  await endInspectionPage(tx, { destinationId, pageId }, 'complete');
  return undefined;
}

/**
 * A write of the destination locks its lane before its inspection, so this must not wait for the lane. Where the budget cannot
 * leave a call for other work, looks wait until nothing else of the destination does.
 */
async function takeBudget(
  tx: Tx,
  destinationId: string,
  calls: number,
  { budget, keptShare }: { budget: Budget; keptShare: number },
): Promise<number> {
  if (calls === 0) return 0;
  if (keptCalls(budget, keptShare) < 1 && (await countDue(tx, destinationId, 1)) > 0) return 0;
  return useSpareBudget(tx, destinationId, calls, budget, { keptShare, skipLocked: true });
}
