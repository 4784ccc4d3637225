import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePorts } from '../scripts/free-ports.ts';
import { type ChildServer, startChildServer } from '../scripts/test-services/child-server.ts';

/** One process that serves HTTP on a free port of this machine. */
export interface Program extends ChildServer {
  url: string;
}

export interface ProgramOptions {
  /** Path of its source, from the repository's root. */
  source: string;
  env: Record<string, string>;
  /** The variable that takes its port; default `PORT`. */
  portVariable?: string;
  /** Folder for a CPU profile, written when it ends. */
  profiles?: string | undefined;
}

const root = fileURLToPath(new URL('..', import.meta.url));

/** Starts a program and resolves when it listens. It ends with this process. */
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
  return { ...server, url: `http://127.0.0.1:${port}` };
}

/** Stops programs one after the other. */
export async function stopPrograms(programs: readonly ChildServer[]): Promise<void> {
  for (const program of programs) await program.stop();
}
