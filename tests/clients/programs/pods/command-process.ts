import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** A program that reads a command of JSON from each line of its input, and prints its outcome on a line. */
export class CommandProcess<Command extends object> {
  readonly #program: string;
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(program: string, env: NodeJS.ProcessEnv) {
    this.#program = program;
    this.#child = spawn(program, { env, stdio: ['pipe', 'pipe', 'inherit'] });
    this.#lines = createInterface({ input: this.#child.stdout! })[Symbol.asyncIterator]();
  }

  async outcome(command: Command): Promise<{ result?: unknown; error?: string }> {
    this.#child.stdin!.write(`${JSON.stringify(command)}\n`);
    const { value, done } = await this.#lines.next();
    if (done) throw new Error(`${this.#program} has ended`);
    return JSON.parse(value);
  }

  /** Throws if the outcome is an error. */
  async result(command: Command): Promise<unknown> {
    const { result, error } = await this.outcome(command);
    if (error !== undefined) throw new Error(`${JSON.stringify(command)}: ${error}`);
    return result;
  }

  async end(): Promise<void> {
    this.#child.stdin!.end();
    if (this.#child.exitCode === null) await once(this.#child, 'exit');
  }
}
