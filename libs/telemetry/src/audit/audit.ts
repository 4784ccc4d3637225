import { timeField } from '../line-time.ts';
import { type DeviceFile, openFile, standardOutput } from './audit-device.ts';
import { lineWriter } from './line-writer.ts';

/** The audit log: one or several devices, each of which gets every line. */
export interface Audit {
  /**
   * Writes one line about a request or its response: an object with `kind`, `type`, `time` and these fields, which are the
   * inside of a JSON object. Resolves when every device has written it; the request must not proceed, and the response must not
   * be sent, before that. Rejects if a device cannot write it.
   */
  write(type: 'request' | 'response', fields: string): Promise<void>;
  readonly devices: readonly AuditDevice[];
  /** Opens the files again by their names, after they were renamed. Lines are written to the old ones until then. */
  reopen(): Promise<void>;
  /** Closes the files after the last write. */
  close(): Promise<void>;
}

export interface AuditDevice {
  /** `file`, `file-2` and so on, or `stdout`. */
  name: string;
  type: 'file' | 'stdout';
  /** Of a file. */
  path?: string;
}

const stdout = '-';

/**
 * Opens the audit log. Each device is a file, which is created with mode 0600 and appended to, or `-` for stdout.
 * @throws if a file cannot be opened
 */
export async function openAudit(devices: readonly string[]): Promise<Audit> {
  const files = await Promise.all(
    devices.map((each) => (each === stdout ? standardOutput() : openFile(each))),
  );
  return auditOn(named(devices), files);
}

function auditOn(devices: readonly AuditDevice[], files: readonly DeviceFile[]): Audit {
  const [only, ...others] = files.map((file) => lineWriter(file));
  if (only === undefined) throw new Error('the audit log needs a device');
  const writers = [only, ...others];
  const writeAll = async (line: string) => void (await Promise.all(writers.map((write) => write(line))));
  const writeLine = others.length === 0 ? only : writeAll;
  return {
    write: (type, fields) => writeLine(`{"kind":"audit","type":"${type}"${timeField()},${fields}}\n`),
    devices,
    reopen: async () => void (await Promise.all(files.map((file) => file.reopen()))),
    close: async () => void (await Promise.all(files.map((file) => file.close()))),
  };
}

function named(devices: readonly string[]): AuditDevice[] {
  let count = 0;
  return devices.map((device) => {
    if (device === stdout) return { name: 'stdout', type: 'stdout' };
    count += 1;
    return { name: count === 1 ? 'file' : `file-${count}`, type: 'file', path: device };
  });
}

/** An audit log for tests, with one device `file` that passes its text to `append`, which throws if it cannot write. */
export function auditTo(append: (text: string) => void | Promise<void>): Audit {
  const file = {
    append: async (text: string) => append(text),
    reopen: async () => undefined,
    close: async () => undefined,
  };
  return auditOn([{ name: 'file', type: 'file' }], [{ ...file, maxBytes: 65_536 }]);
}
