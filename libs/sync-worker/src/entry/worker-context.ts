import type { Db } from '@secrets/db';
import type { KeyRing } from '@secrets/seal';
import type { Logger, Metrics } from '@secrets/telemetry';
import type { Attempts } from '../limits/attempts.ts';
import type { DestinationLimiter } from '../limits/destination-limiter.ts';
import type { Clients } from './clients.ts';
import type { EntryStatements } from './entry-statements.ts';

/** What handling a message needs. */
export interface WorkerContext {
  db: Db;
  statements: EntryStatements;
  keyRing: KeyRing;
  clients: Clients;
  limiter: DestinationLimiter;
  attempts: Attempts;
  log: Logger;
  metrics: ReturnType<typeof workerMetrics>;
  type: string;
  leaseSeconds: number;
}

export const workerMetrics = (metrics: Metrics) => ({
  duration: metrics.histogram('sync_attempt_seconds', 'Time of one attempt on an entry, by outcome', [
    'destination_type',
    'outcome',
  ]),
});
