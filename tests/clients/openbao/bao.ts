import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mustRun, type Run, run } from '../run.ts';

interface BaoOptions {
  /** Default: what `bao login` has stored. */
  token?: string;
  namespace?: string;
  input?: string;
  format?: 'json';
}

/** The OpenBao command line of one user, with a home folder of its own. */
export class Bao {
  readonly home = mkdtempSync(join(tmpdir(), 'bao-home-'));
  readonly #program: string;
  readonly #address: string;

  constructor(program: string, address: string) {
    this.#program = program;
    this.#address = address;
  }

  #options({ token, namespace, format, input }: BaoOptions) {
    const env: NodeJS.ProcessEnv = { PATH: process.env.PATH, HOME: this.home, BAO_ADDR: this.#address };
    if (token !== undefined) env.BAO_TOKEN = token;
    if (namespace !== undefined) env.BAO_NAMESPACE = namespace;
    if (format !== undefined) env.BAO_FORMAT = format;
    return { env, cwd: this.home, ...(input === undefined ? {} : { input }) };
  }

  /** The environment and the folder in which its commands run. */
  environment(): { env: NodeJS.ProcessEnv; cwd: string } {
    const { env, cwd } = this.#options({});
    return { env, cwd };
  }

  /** Runs a command, whose words are separated by blanks, whatever its exit code. */
  run(command: string, options: BaoOptions = {}): Promise<Run> {
    return run(this.#program, command.split(' '), this.#options(options));
  }

  /** Runs a command that must succeed, and returns what it has printed. */
  print(command: string, options: BaoOptions = {}): Promise<string> {
    return mustRun(this.#program, command.split(' '), this.#options(options));
  }

  /** Runs a command that must succeed, and returns the JSON that it has printed. */
  // biome-ignore lint/suspicious/noExplicitAny: tests assert on whatever is returned
  async json(command: string, options: BaoOptions = {}): Promise<any> {
    return JSON.parse(await this.print(command, { ...options, format: 'json' }));
  }

  discard(): void {
    rmSync(this.home, { recursive: true, force: true });
  }
}
