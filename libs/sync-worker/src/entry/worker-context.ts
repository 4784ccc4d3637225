import type { Db } from '@secrets/db';
import type { KeyRing } from '@secrets/seal';
import type { Logger } from '@secrets/telemetry';
import type { Attempts } from '../limits/attempts.ts';
import type { KnownFailures } from '../limits/known-failures.ts';
import type { LaneReporter } from '../limits/lane-reporter.ts';
import type { Slots } from '../limits/slots.ts';
import type { WorkerMetrics } from '../runtime/worker-metrics.ts';
import type { Clients } from './clients.ts';
import type { EntryStatements } from './entry-statements.ts';
import type { LostClaims } from './lost-claims.ts';
import type { SecretValues } from './values/secret-values.ts';

export interface WorkerContext {
  /** For statements that may wait for a locked row. */
  db: Db;
  keyRing: KeyRing;
  clients: Clients;
  /** They decide whether, and for how long, a destination is called. */
  limits: {
    slots: Slots;
    lanes: LaneReporter;
    attempts: Attempts;
    /** Whether syncing was enabled when the worker last read the switch. */
    isEnabled(): boolean;
  };
  /** Used for entries only, not for checks. */
  entries: { statements: EntryStatements; values: SecretValues; lostClaims: LostClaims };
  observe: { log: Logger; metrics: WorkerMetrics; failedLooks: KnownFailures };
}
