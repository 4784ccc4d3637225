import type { Metrics } from '@secrets/telemetry';

/** The background searches for missed work. */
const sweeps = ['lost_announcements', 'reconciliation', 'probes', 'stuck_entries'] as const;

export type Sweep = (typeof sweeps)[number];

/**
 * Metrics of sync-control besides those of its requests. Gauges describe the whole installation: take the maximum of
 * the instances, not the sum. The counters are those of one process.
 */
export function syncMetrics(metrics: Metrics) {
  const byType = ['destination_type'] as const;
  const finds = metrics.counter('sync_sweep_finds_total', 'What a sweep has found and repaired', ['sweep']);
  for (const sweep of sweeps) finds.inc({ sweep }, 0);
  return {
    followFailures: metrics.counter(
      'sync_follow_failures_total',
      'Secrets whose changes could not be followed',
    ),
    heldRemovals: metrics.gauge('sync_destinations_with_held_removals', 'Destinations that hold removals'),
    heldRepairs: metrics.gauge('sync_destinations_with_held_repairs', 'Destinations that hold repairs'),
    held: metrics.gauge('sync_held', '1 while nothing is sent until the installation is confirmed', []),
    queued: metrics.gauge('sync_queue_entries', 'Entries that are not done, up to 100,000 of each state', [
      ...byType,
      'state',
    ]),
    oldestDue: metrics.gauge('sync_queue_oldest_seconds', 'For how long the first due entry has been due', [
      ...byType,
    ]),
    paused: metrics.gauge('sync_paused', 'Lanes and destinations whose calls fail, up to 1,000 each', [
      ...byType,
      'of',
    ]),
    entries: metrics.gauge('sync_entries', 'Entries, up to 10,000 of each destination and status', [
      ...byType,
      'status',
    ]),
    drifted: metrics.gauge(
      'sync_entries_drifted',
      'Entries that have drifted, up to 10,000 of each destination and kind',
      [...byType, 'drift'],
    ),
    inspectionAge: metrics.gauge(
      'sync_inspection_age_periods',
      'Age of the oldest round of looks that has ended, in periods of its destination',
      [...byType],
    ),
    rules: ruleMetrics(metrics),
    deadLetters: metrics.gauge('sync_dead_letters', 'Messages that no consumer could handle', ['queue']),
    found: (sweep: Sweep, count: number) => finds.inc({ sweep }, count),
  };
}

const matchOutcomes = ['associated', 'refused', 'postponed'] as const;

/** Metrics of rules. */
function ruleMetrics(metrics: Metrics) {
  const matches = metrics.counter('sync_rule_matches_total', 'Secrets that rules match, by outcome', [
    'outcome',
  ]);
  for (const outcome of matchOutcomes) matches.inc({ outcome }, 0);
  return {
    matches,
    pages: metrics.histogram('sync_rule_page_seconds', 'Time for a page of a rule'),
    withErrors: metrics.gauge('sync_rules_with_errors', 'Rules that have an error, up to 10,000'),
    refusals: metrics.gauge('sync_rule_refusals', 'Secrets that rules have refused, up to 10,000'),
    oldestDue: metrics.gauge('sync_rules_oldest_due_seconds', 'For how long the first due rule has been due'),
    oldestRun: metrics.gauge(
      'sync_rules_oldest_run_seconds',
      'Time since the last complete run of the rule for which that is longest ago',
    ),
  };
}

/** Where the work for rules counts what it does. */
export type RuleCounts = Pick<ReturnType<typeof ruleMetrics>, 'matches' | 'pages'>;

export type SyncMetrics = ReturnType<typeof syncMetrics>;
