import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePorts } from '../../scripts/free-ports.ts';
import { type ChildServer, startChildServer } from '../../scripts/test-services/child-server.ts';

/** A process that serves HTTP on a free port of this machine. */
export interface Program extends ChildServer {
  url: string;
}

export interface ProgramOptions {
  /** Its source file, relative to the repository's root. */
  source: string;
  env: Record<string, string>;
  /** The environment variable for its port; default `PORT`. */
  portVariable?: string;
  /** Folder for its CPU profile, which is written when it exits. */
  profiles?: string | undefined;
}

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Starts a program and resolves when it listens. It is stopped when this process exits. */
export async function startProgram(options: ProgramOptions): Promise<Program> {
  const { source, env, portVariable = 'PORT', profiles } = options;
  const [port] = (await freePorts(1)) as [number];
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const name = source.split('/').slice(0, 2).join('-');
  const profiling =
    profiles === undefined
      ? []
      : ['--cpu-prof', `--cpu-prof-dir=${profiles}`, `--cpu-prof-name=${name}-${port}.cpuprofile`];
  const server = await startChildServer({
    command: process.execPath,
    args: [...profiling, join(root, source)],
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      LOG_LEVEL: 'warn',
      ...env,
      [portVariable]: String(port),
    },
    folder,
    port,
    stopSignal: 'SIGTERM',
  });
  // A copy of its properties would keep the process ID of the first start.
  return Object.assign(server, { url: `http://127.0.0.1:${port}` });
}

/** Stops programs in order. */
export async function stopPrograms(programs: readonly ChildServer[]): Promise<void> {
  for (const program of programs) await program.stop();
}
