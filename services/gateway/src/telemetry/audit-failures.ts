import type { Audit, Metrics } from '@secrets/telemetry';

/** The same audit log, with a count of the lines that it could not write. */
export function countingFailures(audit: Audit, metrics: Metrics): Audit {
  const failures = metrics.counter('gateway_audit_failures_total', 'Audit lines that could not be written');
  return {
    ...audit,
    write: (type, fields) =>
      audit.write(type, fields).catch((error: unknown) => {
        failures.inc();
        throw error;
      }),
  };
}
