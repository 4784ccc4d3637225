import { destination, stdTimeFunctions } from 'pino';

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
  /**
   * Resolves when the line is written: then, and not before, the request may go on. Rejects when it cannot be written.
   * Lines that come in the same turn of the event loop are written together.
   */
  write(line: AuditLine): Promise<void>;
}

/** Opens the audit: a file (made with mode 0600, appended to) or `-` for stdout. */
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

/** An audit that hands its text to a function, which throws when it cannot write. */
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
