import { setTimeout as sleep } from 'node:timers/promises';
import { type Logger, logFailure } from '@secrets/telemetry';
import type { Context } from '../../../context.ts';
import { advanceInspection } from './advance-inspections.ts';

/** Milliseconds for which a request waits until its look has begun. */
const maxWaitMs = 2_000;

/**
 * Begins the look at everything of a type that has been due for longest, for a request that waits at most 2 s. Never throws: a
 * failure is logged, and the task in the background (`advanceInspections`) continues.
 */
export async function lookSoon(
  looking: Pick<Context, 'db' | 'queue'>,
  log: Logger,
  destinationType: string,
): Promise<void> {
  const looked = advanceInspection(looking, destinationType).catch((error: unknown) =>
    logFailure(log, { error, destinationType }, 'a requested look has not begun; will be retried'),
  );
  await Promise.race([looked, sleep(maxWaitMs, undefined, { ref: false })]);
}
