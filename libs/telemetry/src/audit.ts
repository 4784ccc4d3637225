import { destination, stdTimeFunctions } from 'pino';

/** The audit line of one request: who requested what, and whether it was allowed. Contains no secret value. */
interface AuditLine {
  request_id: string;
  remote_address: string;
  namespace: string;
  operation: string;
  /** As it was requested. */
  path: string;
  /** The own name of a path that was requested by an alternative one. */
  resolved_path?: string;
  accessor: string | null;
  display_name: string | null;
  policies: readonly string[];
  allowed: boolean;
  reason: string | null;
}

export interface Audit {
  /**
   * Resolves when the line is written; the request must not proceed before that. Rejects if it cannot be written. Lines of
   * the same turn of the event loop are written together.
   */
  write(line: AuditLine): Promise<void>;
}

/** Opens the audit log: a file, which is created with mode 0600 and appended to, or `-` for stdout. */
export function openAudit(file: string): Audit {
  const sink = destination({
    dest: file === '-' ? 1 : file,
    sync: true,
    mkdir: true,
    mode: 0o600,
    append: true,
  });
  let failure: unknown;
  sink.on('error', (error: unknown) => {
    failure = error;
  });
  return auditTo((text) => {
    failure = undefined;
    sink.write(text);
    if (failure !== undefined) throw failure;
  });
}

/** An audit log that passes its text to `append`, which throws if it cannot write. */
export function auditTo(append: (text: string) => void): Audit {
  let text = '';
  let turn: Promise<void> | undefined;

  const writeTurn = () =>
    new Promise<void>((resolve, reject) => {
      setImmediate(() => {
        const lines = text;
        text = '';
        turn = undefined;
        try {
          append(lines);
          resolve();
        } catch (error) {
          reject(error);
        }
      });
    });

  return {
    write: (line) => {
      text += `{"kind":"audit"${stdTimeFunctions.isoTime()},${JSON.stringify(line).slice(1)}\n`;
      turn ??= writeTurn();
      return turn;
    },
  };
}
