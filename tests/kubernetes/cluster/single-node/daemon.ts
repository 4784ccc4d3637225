import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { paths } from './settings.ts';

const readyTimeoutMs = 240_000;
const stopTimeoutMs = 20_000;

/** A program in the background that writes to a log of its own. */
export class Daemon {
  readonly name: string;
  /** Resolves with a sentence when it has ended without `stop`. */
  readonly ended: Promise<string>;
  readonly #child: ChildProcess;
  readonly #log: string;
  #isStopped = false;

  constructor(name: string, program: string, args: string[]) {
    this.name = name;
    this.#log = join(paths.logs, `${name}.log`);
    const output = openSync(this.#log, 'a');
    // In a group of its own: Ctrl-C in the terminal does not end it before the others.
    this.#child = spawn(program, args, { stdio: ['ignore', output, output], detached: true });
    this.#child.on('error', () => undefined);
    this.ended = new Promise((resolve) => {
      this.#child.once('exit', (code, signal) => {
        if (!this.#isStopped) resolve(`${name} has ended with ${code ?? signal}:\n${this.#tail()}`);
      });
    });
  }

  /** Resolves when `isReady` says so. Throws, with the end of the log, if the program ends, or after four minutes. */
  async until(isReady: () => Promise<boolean>): Promise<void> {
    const deadline = Date.now() + readyTimeoutMs;
    while (!(await isReady())) {
      if (this.#hasEnded()) throw new Error(await this.ended);
      if (Date.now() > deadline) throw new Error(`${this.name} is not ready:\n${this.#tail()}`);
      await sleep(500);
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#hasEnded()) return;
    const exit = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), stopTimeoutMs);
    await exit.finally(() => clearTimeout(timer));
  }

  #hasEnded(): boolean {
    return this.#child.pid === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  #tail(): string {
    return readFileSync(this.#log, 'utf8').split('\n').slice(-20).join('\n');
  }
}
