import type { Metrics } from '@secrets/telemetry';

/** The searches for what was missed. */
export type Sweep = 'lost_announcements' | 'reconciliation' | 'probes';

/**
 * What sync-control measures besides its requests. Each sync-control reports the numbers of the whole installation: take the
 * maximum of the instances, not the sum. The counters are those of one process.
 */
export function syncMetrics(metrics: Metrics) {
  const byType = ['destination_type'] as const;
  const sweeps = metrics.counter('sync_sweep_finds_total', 'What a sweep has found and repaired', ['sweep']);
  for (const sweep of ['lost_announcements', 'reconciliation', 'probes'] satisfies Sweep[])
    sweeps.inc({ sweep }, 0);
  return {
    followFailures: metrics.counter(
      'sync_follow_failures_total',
      'Secrets whose changes could not be followed',
    ),
    heldRemovals: metrics.gauge('sync_destinations_with_held_removals', 'Destinations that hold removals'),
    queued: metrics.gauge('sync_queue_entries', 'Entries that are not done, up to 100,000 of each state', [
      ...byType,
      'state',
    ]),
    oldestDue: metrics.gauge('sync_queue_oldest_seconds', 'For how long the first due entry has been due', [
      ...byType,
    ]),
    entries: metrics.gauge('sync_entries', 'Entries, up to 10,000 of each destination and status', [
      ...byType,
      'status',
    ]),
    deadLetters: metrics.gauge('sync_dead_letters', 'Messages that no consumer could handle', ['queue']),
    found: (sweep: Sweep, count: number) => sweeps.inc({ sweep }, count),
  };
}

export type SyncMetrics = ReturnType<typeof syncMetrics>;
