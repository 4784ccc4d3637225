import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { sandboxTypes } from '../tests/harness/destination-types.ts';

/** The servers of a benchmark. */
interface UsedServers {
  databaseUrl: string;
  amqpUrl: string;
  /** The main process of Postgres; undefined if it runs elsewhere. */
  postgresPid: number | undefined;
  /** Creates another empty database, which the end of the run drops. */
  createDatabase(): Promise<string>;
}

/** Options that every benchmark receives. */
export interface BenchOptions {
  /** A database that only this benchmark uses, and a broker. */
  servers: UsedServers;
  /** Prints progress. */
  log: (line: string) => void;
  /** Length of one measurement. */
  seconds: number;
  /** Repetitions of each measurement. */
  rounds: number;
  /** Number of secrets that `sync` pushes, and that `drift` looks at and adopts. */
  secrets: number;
  /** Destination types whose throughput `sync` measures, without the delay; all and the delay if undefined. */
  types: readonly string[] | undefined;
  /**
   * Number of entries that `fairness` and `backlog` queue, and that `drift` looks at next to writes, and of existing secrets of
   * `rules`. Each measurement has its own default.
   */
  entries: number | undefined;
  /** Part of the names of the requests that `hostile` measures; undefined for all. */
  only: string | undefined;
  /** Folder for CPU profiles. */
  profiles: string | undefined;
}

export interface CommandLine {
  /** Names of the benchmarks to run; none means all. */
  names: string[];
  help: boolean;
  options: Omit<BenchOptions, 'servers' | 'log'>;
  /** Folder for the figures as JSON and as charts. */
  out: string;
  /** Whether to write them into docs/performance too. */
  docs: boolean;
}

const allTypes = sandboxTypes.map(({ type }) => type);

const flags = {
  seconds: { type: 'string', default: '5' },
  rounds: { type: 'string', default: '3' },
  secrets: { type: 'string', default: '1000' },
  types: { type: 'string' },
  entries: { type: 'string' },
  only: { type: 'string' },
  out: { type: 'string', default: 'dist/bench' },
  docs: { type: 'boolean', default: false },
  'cpu-prof': { type: 'string' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

/**
 * Parses the command line, and creates the folder for CPU profiles.
 * @throws an error with a message for the user
 */
export function parseCommandLine(args: string[]): CommandLine {
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options: flags });
  const positive = (name: 'seconds' | 'rounds' | 'secrets' | 'entries'): number => {
    const value = Number(values[name]);
    if (!Number.isInteger(value) || value <= 0) throw new Error(`--${name} must be a positive integer`);
    return value;
  };
  const profiles = values['cpu-prof'] === undefined ? undefined : resolve(values['cpu-prof']);
  if (profiles !== undefined) mkdirSync(profiles, { recursive: true });
  if (values.docs && values.types !== undefined) throw new Error('--docs needs the figures of all types');
  return {
    names: positionals,
    help: values.help,
    options: {
      seconds: positive('seconds'),
      rounds: positive('rounds'),
      secrets: positive('secrets'),
      types: values.types === undefined ? undefined : typesIn(values.types),
      entries: values.entries === undefined ? undefined : positive('entries'),
      only: values.only,
      profiles,
    },
    out: resolve(values.out),
    docs: values.docs,
  };
}

function typesIn(list: string): string[] {
  const types = list.split(',');
  const unknown = types.filter((type) => !allTypes.includes(type));
  if (unknown.length > 0)
    throw new Error(`--types: unknown ${unknown.join(', ')}; there are ${allTypes.join(', ')}`);
  return types;
}

/** Returns the help text. `benchmarks` maps names to descriptions. */
export function usage(benchmarks: Record<string, string>): string {
  const lines = Object.entries(benchmarks).map(([name, about]) => `  ${name.padEnd(16)}${about}`);
  return `npm run bench [-- [benchmark…] [option…]]

Prints figures of the product, next to what the same machine reaches in the same run without it.
docs/performance.md explains them. Without a benchmark's name, all of them run.

Benchmarks:
${lines.join('\n')}

Options:
  --seconds S     length of one measurement; default ${flags.seconds.default}
  --rounds N      repetitions of each measurement; default ${flags.rounds.default}
  --secrets N     number of secrets that sync pushes, and that drift looks at and adopts; default ${flags.secrets.default}
  --types LIST    destination types whose throughput sync measures, separated by commas, and no delay; default all, and the delay.
                  Not with --docs
  --entries N     number of entries that fairness and backlog queue, of those that drift looks at next to writes, and of existing
                  secrets that rules associates; each figure states its number
  --only TEXT     measures only the requests of hostile whose names contain the text
  --out FOLDER    where to write the figures as JSON and as charts; default ${flags.out.default}
  --docs          also writes them into docs/performance, where they replace those with the same titles
  --cpu-prof DIR  writes a CPU profile of every process except the load generator
  --help          prints this text

Environment:
  BENCH_DATABASE_URL, BENCH_AMQP_URL
                  the servers to use. Otherwise Postgres and RabbitMQ are started for the run, with durable
                  settings: RabbitMQ in Docker, or as installed on this machine`;
}
