#!/usr/bin/env node
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, CommanderError } from 'commander';
import { connectionFrom, openApi, Refused, Unreachable } from './api.ts';
import { environment } from './config.ts';
import { openOutput } from './output.ts';
import { describeProgram } from './program.ts';

/** Replaced by the bundler. */
declare const __VERSION__: string;

const say = (text: string): void => void process.stderr.write(text);
const print = (text: string): void => void process.stdout.write(text);

// `secrets-sync failed | head` closes the pipe.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 3));

const program = describeProgram({
  version: typeof __VERSION__ === 'string' ? __VERSION__ : 'development',
  context: (format) => ({
    api: openApi(connectionFrom(environment)),
    output: openOutput(format, { out: print, error: say }),
    sleep: (ms) => sleep(ms),
  }),
  readLines: async () => {
    const lines: string[] = [];
    for await (const line of createInterface({ input: process.stdin }))
      if (line.trim() !== '') lines.push(line.trim());
    return lines;
  },
  print,
  ended: (verdict) => {
    process.exitCode = verdict ? 0 : 1;
  },
});
for (const command of withSubcommands(program)) command.exitOverride();

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = exitCodeOf(error);
  if (!(error instanceof CommanderError))
    say(`secrets-sync: ${error instanceof Error ? error.message : String(error)}\n`);
}

function withSubcommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)];
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  return error instanceof Refused || error instanceof Unreachable ? 3 : 2;
}
