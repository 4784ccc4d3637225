import type { Command } from 'commander';
import type { Context, Verdict } from './command.ts';
import type { Secrets } from './commands/associations.ts';
import type { Format } from './output.ts';

/** The process that the program runs in. */
export interface Surroundings {
  version: string;
  /** The tools of a command that prints in this format. */
  context(format: Format): Context;
  /** The lines of standard input. */
  readLines(): Promise<string[]>;
  print(text: string): void;
  /** Called with the result of a command that has ended. */
  ended(verdict: Verdict): void;
}

const watchMs = 5_000;

/** Runs commands with the options of the program. */
export interface Runner {
  run(work: (context: Context) => Promise<Verdict>): Promise<void>;
  /** Runs a command again and again if it is watched. */
  watch(isWatched: boolean, work: (context: Context) => Promise<Verdict>): Promise<void>;
  /** Returns the names, or the lines of the standard input in place of `-`. */
  secretsOf(mount: string, names: string[]): Promise<Secrets>;
}

/** Returns what runs the commands of a program. */
export function runnerOf(program: Command, { context, readLines, ended }: Surroundings): Runner {
  const contextOf = () => context(program.opts<{ output: Format }>().output);
  return {
    run: async (work) => ended(await work(contextOf())),
    watch: async (isWatched, work) => {
      const tools = contextOf();
      for (;;) {
        const verdict = await work(tools);
        if (!isWatched) return ended(verdict);
        await tools.sleep(watchMs);
      }
    },
    secretsOf: async (mount, names) => {
      const all = names.length === 1 && names[0] === '-' ? await readLines() : names;
      if (all.length === 0) throw new Error('there are no names in the standard input');
      return { mount, names: all };
    },
  };
}
