import type { Db } from '@secrets/db';
import type { KeyRing } from '@secrets/seal';
import type { Logger } from '@secrets/telemetry';
import type { Attempts } from '../limits/attempts.ts';
import type { LaneReporter } from '../limits/lane-reporter.ts';
import type { Slots } from '../limits/slots.ts';
import type { WorkerMetrics } from '../runtime/worker-metrics.ts';
import type { Clients } from './clients.ts';
import type { EntryStatements } from './entry-statements.ts';
import type { SecretValues } from './secret-values.ts';

/** What a worker needs to handle a message. */
export interface WorkerContext {
  /** For statements that may wait for a locked row. */
  db: Db;
  statements: EntryStatements;
  keyRing: KeyRing;
  values: SecretValues;
  clients: Clients;
  slots: Slots;
  lanes: LaneReporter;
  attempts: Attempts;
  /** Whether syncing is enabled, as the worker has seen it last. */
  isEnabled(): boolean;
  log: Logger;
  metrics: WorkerMetrics;
}
