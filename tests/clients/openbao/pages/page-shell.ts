import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Run, run } from '../../run.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));

/** Runs the commands of a page in a shell, in a folder of its own that looks like the repository. */
export class PageShell {
  readonly home = mkdtempSync(join(tmpdir(), 'page-'));
  readonly #programs = join(this.home, 'bin');
  readonly #replaced: readonly (readonly [string, string])[];
  env: NodeJS.ProcessEnv;

  /**
   * @param bao the folder with the program `bao`
   * @param replaced what to write instead of the addresses of the page, which exist nowhere
   */
  constructor(bao: string, address: string, replaced: Record<string, string> = {}) {
    this.#replaced = Object.entries(replaced);
    mkdirSync(this.#programs);
    for (const name of ['docs', 'scripts', 'services']) symlinkSync(join(root, name), join(this.home, name));
    const path = [this.#programs, bao, process.env.PATH].join(delimiter);
    this.env = { PATH: path, HOME: this.home, BAO_ADDR: address };
  }

  /** Puts a script in front of the programs of this machine. */
  addProgram(name: string, script: string): void {
    const file = join(this.#programs, name);
    writeFileSync(file, `#!/usr/bin/env bash\nset -euo pipefail\n${script}`);
    chmodSync(file, 0o700);
  }

  /** Returns the text with its addresses replaced. */
  replaced(text: string): string {
    return this.#replaced.reduce((changed, [from, to]) => changed.replaceAll(from, to), text);
  }

  /** Runs commands, which stop at the first one that fails. */
  run(commands: string, env: NodeJS.ProcessEnv = {}): Promise<Run> {
    const args = ['--norc', '-euo', 'pipefail', '-c', this.replaced(commands)];
    return run('bash', args, { cwd: this.home, env: { ...this.env, ...env } });
  }

  /** Runs commands that must succeed, and returns what they have printed. */
  async print(commands: string, env?: NodeJS.ProcessEnv): Promise<string> {
    const { code, stdout, stderr } = await this.run(commands, env);
    if (code === 0) return stdout;
    throw new Error(`ended with ${code}: ${commands}\n${stdout}${stderr}`);
  }

  has(file: string): boolean {
    return existsSync(join(this.home, file));
  }

  discard(): void {
    rmSync(this.home, { recursive: true, force: true });
  }
}
