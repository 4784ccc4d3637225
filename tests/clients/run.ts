import { execFile } from 'node:child_process';

/** The output of a program, and its exit code. */
export interface Run {
  code: number;
  stdout: string;
  stderr: string;
}

interface RunOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** What it reads from standard input; default: nothing. */
  input?: string;
  /** After which it is killed; default: five minutes. */
  timeoutMs?: number;
}

const defaultTimeoutMs = 300_000;
const maxOutputBytes = 16 * 1024 * 1024;

/** Runs a program to its end. Throws if it cannot be started. A program that a signal ends has the code -1. */
export function run(
  command: string,
  args: string[],
  { input, timeoutMs = defaultTimeoutMs, ...options }: RunOptions = {},
): Promise<Run> {
  return new Promise((resolve, reject) => {
    const settings = { ...options, timeout: timeoutMs, maxBuffer: maxOutputBytes };
    const child = execFile(command, args, settings, (error, stdout, stderr) => {
      const code = error === null ? 0 : (error.code ?? -1);
      if (typeof code === 'string') reject(error);
      else resolve({ code, stdout, stderr });
    });
    child.stdin?.on('error', () => undefined); // a program that ends without reading its input
    child.stdin?.end(input);
  });
}

/** Runs a program and returns what it has printed. Throws, with all its output, if it fails. */
export async function mustRun(command: string, args: string[], options?: RunOptions): Promise<string> {
  const { code, stdout, stderr } = await run(command, args, options);
  if (code === 0) return stdout;
  throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${stdout}${stderr}`);
}
