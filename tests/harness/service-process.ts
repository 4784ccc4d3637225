import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ProcessExit, Program } from './program.ts';

/** Number of characters of the log that are shown after a failed start or an unexpected end. */
const lastWordsLength = 2_000;

interface ServiceProcessOptions {
  /** Unique in the system: two replicas differ. */
  name: string;
  /** Path of its main program in the repository. */
  source: string;
  env: Record<string, string>;
  /** Where it serves. */
  url: string;
  /** Responds with a 2xx status when the service is ready. */
  readyUrl: string;
  /** Its output is appended to `<name>.log` in this folder. */
  logFolder: string;
}

/** A service of the distributed system as a process that tests can kill and start again. */
export class ServiceProcess {
  readonly name: string;
  readonly url: string;
  /** Responds with a 2xx status while it is ready. */
  readonly readyUrl: string;
  /** The end of its log, for each time that it ended without being asked to. */
  unexpectedEnds: string[] = [];
  readonly #options: ServiceProcessOptions;
  #program: Program | undefined;
  #isEndRequested = false;

  constructor(options: ServiceProcessOptions) {
    this.name = options.name;
    this.url = options.url;
    this.readyUrl = options.readyUrl;
    this.#options = options;
  }

  /** The name of its service, which replicas share. */
  get service(): string | undefined {
    return /services\/([^/]+)\//.exec(this.#options.source)?.[1];
  }

  /** Host and port of `/metrics`. */
  get metricsAddress(): string {
    return new URL(this.#options.readyUrl).host;
  }

  /** Resolves when it is ready. Throws if it ends before that. */
  async start(): Promise<void> {
    const { source, env } = this.#options;
    const output = openSync(this.#logFile, 'a');
    const options = { args: [source], env: { PATH: process.env.PATH, LOG_LEVEL: 'info', ...env }, output };
    this.#isEndRequested = false;
    this.#program = new Program(process.execPath, options);
    closeSync(output);
    void this.#program.ended().then(() => {
      if (!this.#isEndRequested) this.unexpectedEnds.push(this.#lastWords());
    });
    await this.#program
      .until(() => this.#isReady(), 'was ready')
      .catch((error: unknown) => {
        throw new Error(`${this.name}: ${error}${this.#lastWords()}`);
      });
  }

  /** Starts it with settings with which it must not start. Returns the end of its log once it has ended. */
  async startInVain(): Promise<string> {
    await this.start().then(
      () => {
        throw new Error(`${this.name} has started`);
      },
      () => undefined,
    );
    await this.#end('SIGKILL');
    this.unexpectedEnds.pop();
    return this.#lastWords();
  }

  /** The ID of its process; undefined unless it is running. */
  get pid(): number | undefined {
    return this.#program?.isRunning ? this.#program.pid : undefined;
  }

  /** Runs this program from its next start on, in place of the one that it was created with. */
  replaceSource(source: string): void {
    this.#options.source = source;
  }

  /** Sends a signal that does not end it. */
  signal(signal: NodeJS.Signals): void {
    this.#program?.signal(signal);
  }

  get #logFile(): string {
    return join(this.#options.logFolder, `${this.name}.log`);
  }

  #lastWords(): string {
    return readFileSync(this.#logFile, 'utf8').slice(-lastWordsLength);
  }

  #isReady(): Promise<boolean> {
    return fetch(this.#options.readyUrl, { signal: AbortSignal.timeout(3_000) }).then(
      ({ ok }) => ok,
      () => false,
    );
  }

  kill(): Promise<ProcessExit> {
    return this.#end('SIGKILL');
  }

  stop(): Promise<ProcessExit> {
    return this.#end('SIGTERM');
  }

  async #end(signal: NodeJS.Signals): Promise<ProcessExit> {
    this.#isEndRequested = true;
    return (await this.#program?.end(signal)) ?? { code: null, signal: null, milliseconds: 0 };
  }
}
