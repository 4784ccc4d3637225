import {
  countByDrift,
  countByStatus,
  type DestinationHealth,
  type DestinationQueue,
  readHealth,
  readInstallation,
  readQueues,
  readSyncConfig,
} from '@secrets/sync-entries';
import type { Context } from '../../context.ts';
import { countWithUnnamedKeys } from '../../queries/associations/association-counts.ts';
import { type HeldRemovals, listHeldRemovals } from '../../queries/changes/removal-brakes.ts';
import type { DestinationOverviewRow } from '../../queries/destinations/destinations.ts';
import { listHeldRepairs } from '../../queries/destinations/repairs.ts';
import { presentDestinationFlow } from './present-pause.ts';

/** The numbers of a destination are exact up to this one: their cost must not grow with what is stored. */
export const maxCountedOfStatus = 10_000;

/** Numbers of entries by status and by drift, the queue and health of a destination, and what waits for a confirmation. */
export interface DestinationStatus {
  destination: DestinationOverviewRow;
  entries: Readonly<Record<string, number>>;
  drifted: Readonly<Record<string, number>>;
  unnamed: number;
  queue: DestinationQueue;
  health: DestinationHealth;
  held: HeldRemovals | undefined;
  repairsHeldAt: Date | null;
}

/** Reads the status of these destinations. Those that were deleted in the meantime are left out. */
export async function readDestinationStatuses(
  { db }: Pick<Context, 'db'>,
  destinations: readonly DestinationOverviewRow[],
): Promise<DestinationStatus[]> {
  const ids = destinations.map(({ id }) => id);
  const counts = Map.groupBy(
    await countByStatus(db, ids, maxCountedOfStatus),
    ({ destinationId }) => destinationId,
  );
  const drifts = Map.groupBy(
    await countByDrift(db, ids, maxCountedOfStatus),
    ({ destinationId }) => destinationId,
  );
  const unnamed = await countWithUnnamedKeys(db, ids, maxCountedOfStatus);
  const queues = byDestination(await readQueues(db, ids, maxCountedOfStatus));
  const healths = byDestination(await readHealth(db, ids));
  const held = byDestination(await listHeldRemovals(db, ids, maxCountedOfStatus));
  const heldRepairs = byDestination(await listHeldRepairs(db, ids));
  return destinations.flatMap((destination) => {
    const { id } = destination;
    const health = healths.get(id);
    if (health === undefined) return [];
    const entries = Object.fromEntries((counts.get(id) ?? []).map(({ status, count }) => [status, count]));
    const drifted = Object.fromEntries((drifts.get(id) ?? []).map(({ drift, count }) => [drift, count]));
    const ofDestination = { entries, drifted, unnamed: unnamed.get(id) ?? 0, queue: queues.get(id)! };
    const repairsHeldAt = heldRepairs.get(id)?.heldAt ?? null;
    return [{ destination, ...ofDestination, health, held: held.get(id), repairsHeldAt }];
  });
}

const byDestination = <Row extends { destinationId: string }>(rows: readonly Row[]): Map<string, Row> =>
  new Map(rows.map((row) => [row.destinationId, row]));

/** Whether a count of a status stopped at the limit. */
export const isBounded = ({
  entries,
  drifted,
  unnamed,
  queue: { due, scheduled },
}: DestinationStatus): boolean =>
  [...Object.values(entries), ...Object.values(drifted), unnamed, due, scheduled].some(
    (count) => count >= maxCountedOfStatus,
  );

/** Presents a destination in `sys/sync/status`. */
export const presentStatus = ({
  destination,
  entries,
  drifted,
  unnamed,
  queue,
  health,
  held,
  repairsHeldAt,
}: DestinationStatus) => ({
  type: destination.type,
  name: destination.name,
  entries,
  drifted,
  associations_with_unsyncable_keys: unnamed,
  queue: {
    due: queue.due,
    scheduled: queue.scheduled,
    in_progress: queue.inProgress,
    oldest_due_seconds: queue.oldestDueSeconds,
  },
  ...presentDestinationFlow(health, health.nowMs),
  work: workOn(destination),
  background_error: destination.backgroundError,
  removals_held_at: held?.heldAt.toISOString() ?? null,
  removals_held: held?.entries ?? 0,
  repairs_held_at: repairsHeldAt?.toISOString() ?? null,
});

/** The work on the whole destination that is in progress. */
const workOn = (row: DestinationOverviewRow): string[] => [
  ...(row.purgeInitiatedAt === null ? [] : ['purge']),
  ...(row.retryInitiatedAt === null ? [] : ['retry']),
  ...(row.pushInitiatedAt === null ? [] : ['push']),
  ...(row.replanInitiatedAt === null ? [] : ['replan']),
  ...(row.inspectInitiatedAt === null ? [] : ['inspect']),
];

/** The state of the whole installation: whether syncing is disabled or held, and how full the queue is. */
export async function readSystemState({ db, queue }: Pick<Context, 'db' | 'queue'>) {
  const { disabled, queueCapacity } = await readSyncConfig(db);
  const pending = await queue.room.countPending(queueCapacity);
  return { disabled, installation: await readInstallation(db), pending, queueCapacity };
}
