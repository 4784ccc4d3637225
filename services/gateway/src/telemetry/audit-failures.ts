import type { Audit, Metrics } from '@secrets/telemetry';

/** Returns an audit log that also counts the lines that it cannot write. */
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
