import type { Logger } from './logger.ts';

/** The end of an outage is logged when nothing has failed because of it for this long. */
export const quietMs = 60_000;

/** More at the same time are not logged. */
const maxOutages = 100;

interface Outage {
  failures: number;
  ends: NodeJS.Timeout;
}

const outagesOf = new WeakMap<Logger, Map<string, Outage>>();

/**
 * Logs a failure; if something that the service depends on is away, as part of an outage. However much fails, an outage is one
 * warning at its begin and one line at its end.
 */
export function logFailure(
  log: Logger,
  fields: { error: unknown; [field: string]: unknown },
  message: string,
  level: 'warn' | 'error' = 'warn',
): void {
  const { error, ...others } = fields;
  if (isUnavailable(error))
    logOutage(log, error.message, { error: error.cause ?? error, ...others, failed: message });
  else log[level](fields, message);
}

/** Logs the begin of an outage, with these fields, unless it is under way. The sentence identifies what is away. */
export function logOutage(log: Logger, sentence: string, fields: object): void {
  const outages = outagesOf.get(log) ?? new Map<string, Outage>();
  outagesOf.set(log, outages);
  const outage = outages.get(sentence);
  if (outage !== undefined) {
    outage.failures += 1;
    outage.ends.refresh();
  } else if (outages.size < maxOutages) {
    log.warn({ ...fields, sentence }, 'a dependency is unavailable');
    outages.set(sentence, { failures: 1, ends: endOf(log, sentence, outages) });
  }
}

function endOf(log: Logger, sentence: string, outages: Map<string, Outage>): NodeJS.Timeout {
  const begin = Date.now();
  const end = () => {
    const failures = outages.get(sentence)?.failures;
    outages.delete(sentence);
    const seconds = Math.round((Date.now() - quietMs - begin) / 1_000);
    log.info({ sentence, failures, seconds }, 'a dependency has not been unavailable for a minute');
  };
  return setTimeout(end, quietMs).unref();
}

/** Whether an error is the problem `unavailable`, which says that something is away. */
const isUnavailable = (error: unknown): error is Error =>
  error instanceof Error && 'kind' in error && error.kind === 'unavailable';
