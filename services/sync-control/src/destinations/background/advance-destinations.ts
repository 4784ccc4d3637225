import type { Db } from '@secrets/db';
import { countDue } from '@secrets/sync-entries';
import { type Logger, logFailure } from '@secrets/telemetry';
import {
  listMarkedDestinations,
  type MarkedDestinationRow,
  recordBackgroundError,
} from '../../queries/destinations/destination-marks.ts';
import { failureText } from './failure-text.ts';
import { advanceDeletion } from './force-delete.ts';
import { advancePurge, withdrawPushes } from './purge.ts';
import { advancePush } from './push-again.ts';
import { advanceRetry } from './retry-failed.ts';

/** The dependencies of work on whole destinations. */
export interface DestinationWork {
  db: Db;
  log: Logger;
  /** Plans one page of a destination's associations again. Returns whether there may be another page. */
  replan(destinationId: string): Promise<boolean>;
}

/** Work that cannot proceed now is tried again after this time, even while other work continues. */
const restMs = 1_000;

/**
 * Advances all work on whole destinations until only waiting is left: forced deletions, retries, purges, pushes and
 * replans. Destinations take turns, one page of each work; one that is marked in the meantime joins them in the next
 * turn. Each page first verifies that the work has not ended, and is recorded with its result, so this may run in
 * several processes, stop between two pages, and continue after a crash. A page that fails is logged, shown on the
 * destination and retried later, and does not hold up other work.
 */
export async function advanceDestinations(work: DestinationWork, isStopping: () => boolean): Promise<void> {
  const restsUntil = new Map<string, number>();
  const isReady = ({ id }: MarkedDestinationRow) => (restsUntil.get(id) ?? 0) <= performance.now();
  let ready = await listMarkedDestinations(work.db);
  while (ready.length > 0) {
    for (const destination of ready) {
      if (isStopping()) return;
      const isMore = await advance(work, destination);
      if (!isMore) restsUntil.set(destination.id, performance.now() + restMs);
    }
    ready = (await listMarkedDestinations(work.db)).filter(isReady);
  }
}

type Advance = (work: DestinationWork, destination: MarkedDestinationRow) => Promise<boolean>;

interface Kind {
  isMarked(destination: MarkedDestinationRow): boolean;
  advance: Advance;
  /** The part of the work that adds no due entries, for use while the destination has too many. */
  advanceWhileFull?: Advance;
}

/** Background operations on a destination other than its deletion, in the order in which they are advanced. */
const kinds: Kind[] = [
  { isMarked: ({ isRetried }) => isRetried, advance: ({ db }, { id }) => advanceRetry(db, id) },
  {
    isMarked: ({ isInPurge }) => isInPurge,
    advance: ({ db }, destination) => advancePurge(db, destination),
    advanceWhileFull: ({ db }, { id }) => withdrawPushes(db, id),
  },
  { isMarked: ({ isPushed }) => isPushed, advance: ({ db }, { id }) => advancePush(db, id) },
  { isMarked: ({ isReplanned }) => isReplanned, advance: ({ replan }, { id }) => replan(id) },
];

/**
 * While this many entries of a destination are due, no page adds to them: they must not fill up the queue of the
 * installation.
 */
const maxDue = 5_000;

/** Advances each work on a destination by a page. Returns whether there may be another page now. */
async function advance(work: DestinationWork, destination: MarkedDestinationRow): Promise<boolean> {
  const { id } = destination;
  let isMore = false;
  const errors: string[] = [];
  for (const advanceOne of await possibleWork(work, destination)) {
    const error = await advanceOne(work, destination).then(
      (isMoreOfIt) => {
        isMore ||= isMoreOfIt;
      },
      (thrown: unknown) => failed(work.log, id, thrown),
    );
    if (error !== undefined) errors.push(error);
  }
  await recordOutcome(work, destination, errors.at(-1) ?? null);
  return isMore;
}

async function possibleWork({ db }: DestinationWork, destination: MarkedDestinationRow): Promise<Advance[]> {
  const { id, isDeleted } = destination;
  if (isDeleted) return [() => advanceDeletion(db, id)];
  const marked = kinds.filter((kind) => kind.isMarked(destination));
  const isFull = (await countDue(db, id, maxDue)) === maxDue;
  return marked.flatMap(({ advance, advanceWhileFull = [] }) => (isFull ? advanceWhileFull : advance));
}

function failed(log: Logger, destinationId: string, error: unknown): string {
  logFailure(log, { error, destinationId }, 'background work on a destination failed; will be retried');
  return failureText(error);
}

async function recordOutcome(
  { db }: DestinationWork,
  destination: MarkedDestinationRow,
  error: string | null,
): Promise<void> {
  if (destination.backgroundError === error) return;
  await recordBackgroundError(db, destination.id, error).catch(() => undefined); // the database may be the cause
  destination.backgroundError = error;
}
