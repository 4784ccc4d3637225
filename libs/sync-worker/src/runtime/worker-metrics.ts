import { type Drift, driftKinds } from '@secrets/domain';
import type { Metrics } from '@secrets/telemetry';

/** Measurements of a worker. The labels have few values: types, operations and kinds of faults, never names. */
export interface WorkerMetrics {
  /** Measures an attempt, from this call until the returned function is called with the outcome. */
  startAttempt(): (outcome: string) => void;
  /** Measures a call of the driver in the same way. */
  startCall(operation: ProviderOperation): (outcome: string) => void;
  /** Records that an intent was achieved, and how long after it was recorded. */
  achieved(action: 'put' | 'remove', seconds: number): void;
  /** Counts an attempt that ended after its lease. */
  leaseLost(): void;
  /** Counts a look by what it has found; `unknown` if it has proved nothing. */
  looked(found: Drift | 'unknown'): void;
}

export type ProviderOperation = 'put' | 'remove' | 'release' | 'inspect' | 'list';

const callBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20];
/** Up to a day: failures of a provider are retried for hours. */
const latencyBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600, 21_600, 86_400];

const findings: readonly (Drift | 'unknown')[] = [...driftKinds, 'unknown'];

/** Creates the metrics of a worker. Those that alerts look at exist from the start, with the value 0. */
export function workerMetrics(metrics: Metrics, destination_type: string): WorkerMetrics {
  const attempts = metrics.histogram('sync_attempt_seconds', 'Time of one attempt on an entry, by outcome', [
    'destination_type',
    'outcome',
  ]);
  const running = metrics.gauge('sync_attempts_in_progress', 'Attempts that a worker is making', [
    'destination_type',
  ]);
  const calls = metrics.histogram(
    'sync_provider_seconds',
    'Time of one operation of a driver at the provider, by outcome',
    ['destination_type', 'operation', 'outcome'],
    callBuckets,
  );
  const latency = metrics.histogram(
    'sync_latency_seconds',
    'Time from an intent until it was achieved',
    ['destination_type', 'action'],
    latencyBuckets,
  );
  const leases = metrics.counter('sync_leases_lost_total', 'Attempts that ended after their lease', [
    'destination_type',
  ]);
  const type = { destination_type };
  running.set(type, 0);
  leases.inc(type, 0);
  for (const outcome of ['done', 'crashed']) attempts.zero({ ...type, outcome });
  return {
    startAttempt: () => {
      const finished = attempts.startTimer(type);
      running.inc(type);
      return (outcome) => {
        running.dec(type);
        finished({ outcome });
      };
    },
    startCall: (operation) => {
      const finished = calls.startTimer({ ...type, operation });
      return (outcome) => void finished({ outcome });
    },
    achieved: (action, seconds) => latency.observe({ ...type, action }, seconds),
    leaseLost: () => leases.inc(type),
    looked: countLooks(metrics, destination_type),
  };
}

function countLooks(metrics: Metrics, destination_type: string): WorkerMetrics['looked'] {
  const looks = metrics.counter('sync_looks_total', 'Looks at external secrets, by what they have found', [
    'destination_type',
    'found',
  ]);
  for (const found of findings) looks.inc({ destination_type, found }, 0);
  return (found) => looks.inc({ destination_type, found });
}
