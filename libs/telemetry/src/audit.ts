import { type DestinationStream, destination, pino } from 'pino';

/** What the audit says of one request: who asked for what, and whether it was let through. Never a value. */
export interface AuditLine {
  request_id: string;
  remote_address: string;
  namespace: string;
  operation: string;
  path: string;
  accessor: string | null;
  display_name: string | null;
  policies: readonly string[];
  allowed: boolean;
  reason: string | null;
}

export interface Audit {
  /** Writes the line before it returns. Throws when it cannot; then the request must not go on. */
  write(line: AuditLine): void;
  flush(): void;
}

/** Opens the audit: a file (made with mode 0600, appended to) or `-` for stdout. Every line is written before `write` returns. */
export function openAudit(file: string): Audit {
  const sink =
    file === '-'
      ? destination({ dest: 1, sync: true })
      : destination({ dest: file, sync: true, mkdir: true, mode: 0o600, append: true });
  return auditTo(sink, () => sink.flushSync());
}

/** An audit that writes to a stream of the caller's. */
export function auditTo(stream: DestinationStream, flush: () => void = () => undefined): Audit {
  const log = pino(
    {
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: () => ({ kind: 'audit' }) },
    },
    stream,
  );
  return { write: (line) => log.info(line), flush };
}
