import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const startTimeoutMs = 120_000;

export interface ServiceProcessOptions {
  /** What it is called here; two replicas differ. */
  name: string;
  /** Its program, from the repository's root. */
  source: string;
  env: Record<string, string>;
  /** Where it serves. */
  url: string;
  /** Answers 200 as soon as it is of use. */
  readyUrl: string;
  /** Where its output is kept. */
  logFolder: string;
}

/** How a process ended. */
export interface Ending {
  code: number | null;
  signal: NodeJS.Signals | null;
  milliseconds: number;
}

/** One service as an operating system's process, to be killed and started again. */
export class ServiceProcess {
  readonly name: string;
  readonly url: string;
  /** How often it ended without being stopped. */
  unexpectedEnds = 0;
  readonly #options: ServiceProcessOptions;
  #child: ChildProcess | undefined;
  #isStopRequested = false;

  constructor(options: ServiceProcessOptions) {
    this.name = options.name;
    this.url = options.url;
    this.#options = options;
  }

  /** Resolves when it is ready. */
  async start(): Promise<void> {
    const { source, env, logFolder } = this.#options;
    const log = openSync(join(logFolder, `${this.name}.log`), 'a');
    const child = spawn(process.execPath, [join(root, source)], {
      env: { PATH: process.env.PATH, LOG_LEVEL: 'info', ...env },
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    child.once('exit', () => {
      if (!this.#isStopRequested) this.unexpectedEnds += 1;
    });
    this.#isStopRequested = false;
    this.#child = child;
    await this.ready();
  }

  /** Resolves when it says that it is ready; throws when it has ended, or is not within a minute. */
  async ready(): Promise<void> {
    const end = Date.now() + startTimeoutMs;
    while (!(await this.isReady())) {
      if (!this.isRunning()) throw new Error(`${this.name} ended before it was ready`);
      if (Date.now() > end) throw new Error(`${this.name} was not ready in time`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  isReady(): Promise<boolean> {
    return fetch(this.#options.readyUrl, { signal: AbortSignal.timeout(3_000) }).then(
      ({ ok }) => ok,
      () => false,
    );
  }

  isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** kill -9. */
  kill(): Promise<Ending> {
    return this.#end('SIGKILL');
  }

  /** SIGTERM, and how long it took. */
  stop(): Promise<Ending> {
    return this.#end('SIGTERM');
  }

  async #end(signal: NodeJS.Signals): Promise<Ending> {
    const started = Date.now();
    const child = this.#child;
    if (child === undefined || !this.isRunning()) return { code: null, signal: null, milliseconds: 0 };
    this.#isStopRequested = true;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
    return { code: child.exitCode, signal: child.signalCode, milliseconds: Date.now() - started };
  }
}
