import { parseArgs } from 'node:util';
import type { FireOptions } from './run.ts';

interface CommandLine {
  help: boolean;
  options: Omit<FireOptions, 'log'>;
}

const flags = {
  minutes: { type: 'string', default: '2' },
  faults: { type: 'string' },
  seed: { type: 'string', default: '1' },
  every: { type: 'string', default: '2000' },
  round: { type: 'string', default: '25' },
  settle: { type: 'string', default: '90' },
  bug: { type: 'string' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

/** The help text. */
export const usage = `npm run chaos [-- option…]

Starts the distributed stack with all destination types, disturbs it under a mixed load, and checks that it keeps its guarantees
(docs/reliability.md). Exits with 1 and the violations if it does not.

Options:
  --seed S      draws the faults and the load; default ${flags.seed.default}
  --minutes N   length of the disturbance, without the time to settle; default ${flags.minutes.default}
  --faults N    number of faults, in place of --minutes
  --every MS    mean time between two faults; default ${flags.every.default}
  --round N     faults after which the system must settle and is checked; default ${flags.round.default}
  --settle S    seconds in which it must settle; default ${flags.settle.default}
  --bug NAME    runs a copy of the source with this deliberate bug`;

/**
 * Parses the command line.
 * @throws an error with a message for the user
 */
export function parseCommandLine(args: string[]): CommandLine {
  const { values } = parseArgs({ args, options: flags });
  const number = (name: 'minutes' | 'faults' | 'seed' | 'every' | 'round' | 'settle'): number => {
    const value = Number(values[name]);
    if (!Number.isFinite(value) || value <= 0) throw new Error(`--${name} must be a positive number`);
    return value;
  };
  const everyMs = number('every');
  return {
    help: values.help,
    options: {
      seed: number('seed'),
      faults: values.faults === undefined ? Math.ceil((number('minutes') * 60_000) / everyMs) : number('faults'),
      everyMs,
      faultsPerRound: number('round'),
      settleMs: number('settle') * 1_000,
    },
  };
}
