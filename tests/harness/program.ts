import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from './eventually.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Long, because a start shares the processors with everything else that runs. */
const startTimeoutMs = 240_000;

/** Where `npm test` has bundled the services; undefined in a run of few tests. */
const bundles = process.env.TEST_PROGRAMS;

/** The main program of a service. Bundled as in the images, it starts in half of the CPU time. */
export const mainOf = (service: string): string =>
  bundles === undefined
    ? `services/${service}/src/main.ts`
    : join(bundles, 'services', service, 'src/main.mjs');

/** The environment of bundled services: what Node compiles of them is kept, and deleted, with them. */
export const bundleEnv: Record<string, string> =
  bundles === undefined ? {} : { NODE_COMPILE_CACHE: join(bundles, 'compiled') };

interface ProgramOptions {
  args: string[];
  env: NodeJS.ProcessEnv;
  /** A file descriptor for the output; default: it is kept, for `printed`. */
  output?: number;
  /** Whether it gets its own process group, so that `end(signal, 'group')` signals it like a terminal does. */
  ownGroup?: boolean;
}

/** The exit of a process. */
export interface ProcessExit {
  code: number | null;
  signal: NodeJS.Signals | null;
  milliseconds: number;
}

/** A program that runs as a child process in the folder of the repository. */
export class Program {
  #printed = '';
  readonly #child: ChildProcess;
  readonly #ownGroup: boolean;

  constructor(command: string, { args, env, output, ownGroup = false }: ProgramOptions) {
    const stream = output ?? 'pipe';
    this.#ownGroup = ownGroup;
    this.#child = spawn(command, args, {
      cwd: root,
      env,
      detached: ownGroup,
      stdio: ['ignore', stream, stream],
    });
    for (const readable of [this.#child.stdout, this.#child.stderr])
      readable?.on('data', (chunk) => {
        this.#printed += chunk;
      });
  }

  /** Everything that it has printed so far. */
  get printed(): string {
    return this.#printed;
  }

  /** The memory that it uses, in MiB; NaN where `/proc` does not exist. */
  get residentMebibytes(): number {
    const file = `/proc/${this.#child.pid}/status`;
    const kibibytes = existsSync(file) ? /VmRSS:\s+(\d+)/.exec(readFileSync(file, 'utf8'))?.[1] : undefined;
    return Math.round(Number(kibibytes) / 1_024);
  }

  /** Its process ID. */
  get pid(): number {
    return this.#child.pid!;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Resolves with the exit code when it has ended for whatever reason; null if a signal ended it. */
  async ended(): Promise<number | null> {
    if (this.isRunning) await once(this.#child, 'exit');
    return this.#child.exitCode;
  }

  /** Resolves when it has printed this text. Throws if it ends before that. */
  untilPrinted(text: string): Promise<void> {
    return this.until(async () => this.#printed.includes(text), `printed "${text}"`);
  }

  /** Resolves when the condition is met. Throws if the program ends before that. */
  async until(isMet: () => Promise<boolean>, what: string): Promise<void> {
    const look = async () => {
      const hasEnded = !this.isRunning; // before the condition is checked: what it has printed last counts
      return (await isMet()) ? 'met' : hasEnded && 'ended';
    };
    const outcome = await eventually(look, Boolean, startTimeoutMs);
    if (outcome === 'ended') throw new Error(`the program ended before it ${what}:\n${this.#printed}`);
  }

  /** Kills the process and, if it has its own group, whatever is left of the group. */
  async discard(): Promise<void> {
    await this.end('SIGKILL');
    if (!this.#ownGroup) return;
    try {
      process.kill(-this.#child.pid!, 'SIGKILL');
    } catch {
      // Nothing is left.
    }
  }

  /** Sends a signal to the process, which continues to run. */
  signal(signal: NodeJS.Signals): void {
    process.kill(this.#child.pid!, signal);
  }

  /** Sends a signal to the process, or to its group like a terminal, and resolves when the process has ended. */
  async end(signal: NodeJS.Signals, target: 'process' | 'group' = 'process'): Promise<ProcessExit> {
    const started = Date.now();
    const child = this.#child;
    if (this.isRunning) {
      const ended = once(child, 'exit');
      process.kill(target === 'group' ? -child.pid! : child.pid!, signal);
      await ended;
    }
    return { code: child.exitCode, signal: child.signalCode, milliseconds: Date.now() - started };
  }
}
