import { parseArgs } from 'node:util';
import { type Bug, bugs } from './bugs/bugs.ts';
import type { RegionOptions } from './campaigns/region/region.ts';

const commands = ['run', 'bugs', 'restore', 'failover', 'region', 'clock', 'upgrade'] as const;

export interface CommandLine {
  help: boolean;
  command: (typeof commands)[number];
  options: Omit<RegionOptions, 'log'>;
  /** The deliberate bug of `run`, if any. */
  bug: Bug | undefined;
  /** The revision that `upgrade` starts from. */
  from: string | undefined;
  /** File to which the report is appended as a line of JSON. */
  json: string | undefined;
}

const flags = {
  minutes: { type: 'string', default: '2' },
  faults: { type: 'string' },
  seed: { type: 'string', default: '1' },
  every: { type: 'string', default: '2000' },
  round: { type: 'string', default: '25' },
  settle: { type: 'string', default: '90' },
  lost: { type: 'string', default: '2' },
  away: { type: 'string', default: '20' },
  warm: { type: 'boolean', default: false },
  bug: { type: 'string' },
  from: { type: 'string' },
  json: { type: 'string' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

/** The help text. */
export const usage = `npm run chaos [-- [command] [option…]]

Starts the distributed stack with all destination types, disturbs it under a mixed load, and checks that it keeps its guarantees
(docs/reliability.md). Exits with 1 and the violations if it does not.

Commands:
  run           the default
  bugs          runs each deliberate bug until it is found; exits with 1 if one is not
  restore       takes a backup under load, and restores it
  failover      promotes a standby that lacks the last commits, under load
  region        loses all servers and processes at once, under load, and starts them on the promoted standby
  clock         sets the clock of PostgreSQL an hour ahead and back in each round, as syncing sees it
  upgrade       upgrades an older revision under load

Options:
  --seed S      draws the faults and the load; default ${flags.seed.default}
  --minutes N   length of the disturbance, without the time to settle; default ${flags.minutes.default}
  --faults N    number of faults, in place of --minutes
  --every MS    mean time between two faults; default ${flags.every.default}
  --round N     faults after which the system must settle and is checked; default ${flags.round.default}
  --settle S    seconds in which it must settle; default ${flags.settle.default}
  --lost S      seconds of commits that the standby of failover and region lacks; default ${flags.lost.default}
  --away M      minutes for which sync-control seems to have been away in region; default ${flags.away.default}. Above 15, syncing is held
  --warm        starts the services of region before the promotion, on the standby; syncing is not held then
  --bug NAME    runs a copy of the source with a deliberate bug; with bugs, only this one
  --from REV    where upgrade begins; default: the newest tag, or the commit before the newest migration
  --json FILE   appends the report as a line of JSON

Bugs:
${bugs.map(({ name, about }) => `  ${name.padEnd(24)}${about}`).join('\n')}`;

/**
 * Parses the command line.
 * @throws an error with a message for the user
 */
export function parseCommandLine(args: string[]): CommandLine {
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options: flags });
  const number = (name: Exclude<keyof typeof flags, 'warm' | 'bug' | 'from' | 'json' | 'help'>): number => {
    const value = Number(values[name]);
    if (!Number.isFinite(value) || value <= 0) throw new Error(`--${name} must be a positive number`);
    return value;
  };
  const everyMs = number('every');
  return {
    help: values.help,
    command: commandNamed(positionals),
    options: {
      seed: number('seed'),
      faults:
        values.faults === undefined ? Math.ceil((number('minutes') * 60_000) / everyMs) : number('faults'),
      everyMs,
      faultsPerRound: number('round'),
      settleMs: number('settle') * 1_000,
      lostMs: number('lost') * 1_000,
      awayMinutes: number('away'),
      isWarm: values.warm,
    },
    bug: bugNamed(values.bug),
    from: values.from,
    json: values.json,
  };
}

function commandNamed([name = 'run', ...more]: string[]): CommandLine['command'] {
  const command = commands.find((one) => one === name);
  if (command === undefined || more.length > 0)
    throw new Error(`unknown command: ${[name, ...more].join(' ')}`);
  return command;
}

function bugNamed(name: string | undefined): Bug | undefined {
  const bug = bugs.find((one) => one.name === name);
  if (name !== undefined && bug === undefined) throw new Error(`unknown bug: ${name}`);
  return bug;
}
