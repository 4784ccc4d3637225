import { every, type Repeated } from '@secrets/background';
import type { Sql } from '@secrets/db';
import type { Logger, Metrics } from '@secrets/telemetry';
import { advanceClock, type ClockSchema, restartClock } from './clock-row.ts';
import type { DeadlineTable } from './deadlines.ts';
import { sweepDeadlines } from './sweep-deadlines.ts';

/** The deadlines of a schema, and where it is reported that the clock was set back. */
export interface WatchedClock {
  db: Sql;
  schema: ClockSchema;
  deadlines: readonly DeadlineTable[];
  log: Logger;
  metrics: Metrics;
}

const lookSeconds = 1;

/** Looks at the clock of the database every second, until it is stopped. */
export function watchClock(watched: WatchedClock): Repeated {
  setBackCounter(watched).inc({ schema: watched.schema }, 0);
  return every(lookSeconds, 'clock of the database', watched.log, (isStopping) =>
    lookAtClock(watched, isStopping),
  );
}

const setBackCounter = ({ metrics }: WatchedClock) =>
  metrics.counter('database_clock_set_back_total', 'How often the clock of the database was set back', [
    'schema',
  ]);

/**
 * Records the time of the database. Ten seconds after the clock was set back, ends the waits for times that lie ahead. Several
 * processes may do so at once; after a crash, it is repeated.
 */
export async function lookAtClock(
  watched: WatchedClock,
  isStopping: () => boolean = () => false,
): Promise<void> {
  const { db, schema, deadlines, log } = watched;
  const setBack = await advanceClock(db, schema);
  if (setBack === undefined) return;
  const rows = await sweepDeadlines(db, deadlines, isStopping);
  if (isStopping() || !(await restartClock(db, schema, setBack))) return;
  setBackCounter(watched).inc({ schema });
  log.warn(
    { schema, setBackSeconds: Math.round(setBack.seconds), rows },
    'the clock of the database was set back; what waited for later times is due now',
  );
}
