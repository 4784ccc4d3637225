import type { Broker } from '@secrets/broker';
import type { Db } from '@secrets/db';
import { destinationTypes } from '@secrets/destinations';
import { secretChangesQueue, syncQueue } from '@secrets/domain';
import { readTypePauses, readTypeQueues } from '@secrets/sync-entries';
import type { SyncMetrics } from './sync-metrics.ts';

/** Counting more takes too long. */
const maxCounted = 100_000;

const types = Object.keys(destinationTypes);

/** Measures the pending entries of each destination type, and for how long the oldest has been due. */
export async function measureQueue(db: Db, { queued, oldestDue }: SyncMetrics): Promise<void> {
  for (const queue of await readTypeQueues(db, types, maxCounted)) {
    const { destinationType: destination_type, due, scheduled, enqueued } = queue;
    for (const [state, count] of Object.entries({ due, scheduled, enqueued }))
      queued.set({ destination_type, state }, count);
    oldestDue.set({ destination_type }, queue.oldestDueSeconds);
  }
}

const maxPaused = 1_000;

/** Counts the lanes and destinations of each destination type that are paused. */
export async function measurePauses(db: Db, { paused }: SyncMetrics): Promise<void> {
  for (const { destinationType: destination_type, lanes, destinations } of await readTypePauses(
    db,
    types,
    maxPaused,
  )) {
    paused.set({ destination_type, of: 'lane' }, lanes);
    paused.set({ destination_type, of: 'destination' }, destinations);
  }
}

/** Reads how many dead letters each queue has. */
export async function measureDeadLetters(
  broker: Pick<Broker, 'deadLetterDepth'>,
  { deadLetters }: SyncMetrics,
): Promise<void> {
  for (const queue of [secretChangesQueue, ...types.map(syncQueue)])
    deadLetters.set({ queue }, await broker.deadLetterDepth(queue));
}
