import { Fault, type LookPageMessage, syncLogFields } from '@secrets/domain';
import { findListed, type ListedEntry, recordListed } from '@secrets/sync-entries';
import { abortable } from '../driver/abortable.ts';
import type { Untouched } from '../driver/look.ts';
import type { AttemptContext } from '../entry/entry-statements.ts';
import { failureOf, logFailedLook } from '../entry/record-failure.ts';
import type { WorkerContext } from '../entry/worker-context.ts';
import type { FailureKind } from '../limits/retry-policy.ts';

/** The entries of a page that lists do not show as unchanged, and why the lists could not be read. */
interface Left {
  ids: string[];
  /** The number of pages of lists that were read. If it is not 0, only few of the entries should be left. */
  pages: number;
  failure?: FailureKind;
}

/**
 * Records which entries of a page are unchanged as far as the lists of the store show it, and returns the others: what a list
 * does not show is unknown. Reads no list for a type whose lists do not serve many entries.
 */
export async function lookByList(worker: WorkerContext, { entry_ids: ids }: LookPageMessage): Promise<Left> {
  if (ids.length < 2) return { ids, pages: 0 };
  const entries = await findListed(worker.db, ids);
  const [first] = entries;
  const context = first && (await worker.entries.statements.readContext(first.id));
  if (first === undefined || context === undefined) return { ids, pages: 0 };
  const startedAtMs = performance.now();
  try {
    const untouched = await findUntouched(worker, context, entries);
    if (untouched === undefined) return { ids, pages: 0 };
    const isUntouched = new Set(untouched.entryIds);
    const listed = entries.filter(({ id }) => isUntouched.has(id));
    await recordListed(worker.db, listed, performance.now() - startedAtMs);
    for (const _ of listed) worker.observe.metrics.looked('none');
    return { ids: ids.filter((id) => !isUntouched.has(id)), pages: untouched.pages };
  } catch (error) {
    return {
      ids,
      pages: 1,
      failure: await failed(worker, context, startedAtMs, error),
    };
  } finally {
    context.release();
  }
}

/** Returns undefined if the lists of the type do not serve many entries. */
async function findUntouched(
  { clients, limits }: WorkerContext,
  { destination }: AttemptContext,
  entries: readonly ListedEntry[],
): Promise<Untouched | undefined> {
  const requests = entries.map(({ id: entryId, externalName, remote, putStartedAt }) => ({
    entryId,
    externalName,
    remote,
    putStartedAt,
  }));
  return limits.attempts.run(performance.now(), (signal) =>
    clients.use(destination, async ({ findUntouched: find }) =>
      find === undefined ? undefined : abortable(find(requests, signal), signal, timedOut),
    ),
  );
}

const timedOut = () => new Fault('unavailable', 'the destination did not respond in time');

async function failed(
  worker: WorkerContext,
  { destination, lane }: AttemptContext,
  startedAtMs: number,
  thrown: unknown,
): Promise<FailureKind> {
  const failure = failureOf(thrown);
  const { kind, retryAfterSeconds } = failure;
  logFailedLook(worker, syncLogFields({ destination }), failure);
  if (kind === 'throttled')
    await worker.limits.lanes.failed(
      { laneId: lane.id, destinationId: destination.id, startedAtMs },
      { fault: kind, retryAfterSeconds },
    );
  return kind;
}
