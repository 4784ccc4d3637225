import { cpuMicroseconds } from './cpu-time.ts';
import { type LoadJob, type LoadResult, load } from './load.ts';
import { median } from './statistics.ts';

/** What is measured: the product, or what it is measured by. */
export interface Side {
  name: string;
  url: string;
  /** Processes that work for it, the gateway first; without database and broker. */
  pids: number[];
}

/** One kind of request, sent to every side. */
export interface Load {
  name: string;
  job: Pick<LoadJob, 'method' | 'headers' | 'paths' | 'bodies'>;
}

interface Run extends LoadResult {
  /** CPU time of a request in each of the side's processes; undefined where the system does not tell. */
  cpuMicrosecondsEach: number[] | undefined;
}

/** Runs of each side, in the order of the rounds. */
export type Runs = Map<string, Run[]>;

export interface Rounds {
  rounds: number;
  seconds: number;
  log: (line: string) => void;
}

const connections = 32;
const warmUpSeconds = 3;

/** Sends one kind of load to all sides in turn, round after round; the side that begins changes. */
export async function alternate(
  sides: Side[],
  wanted: Load,
  { rounds, seconds, log }: Rounds,
): Promise<Runs> {
  const runs: Runs = new Map(sides.map(({ name }) => [name, []]));
  for (const side of sides) await runOnce(side, wanted, warmUpSeconds);
  for (let round = 0; round < rounds; round += 1) {
    const inTurn = sides.map((_, at) => sides[(at + round) % sides.length]!);
    for (const side of inTurn) {
      const run = await runOnce(side, wanted, seconds);
      runs.get(side.name)?.push(run);
      log(`round ${round + 1} of ${rounds}, ${wanted.name}, ${side.name}: ${describe(run)}`);
    }
  }
  return runs;
}

async function runOnce(side: Side, { job }: Load, seconds: number): Promise<Run> {
  const before = cpuMicroseconds(side.pids);
  const result = await load({ ...job, url: side.url, connections, seconds }).catch((cause: unknown) => {
    throw new Error(`the load on ${side.name} failed`, { cause });
  });
  const after = cpuMicroseconds(side.pids);
  const cpuMicrosecondsEach = after?.map((used, at) => (used - (before?.[at] ?? 0)) / result.requests);
  return { ...result, cpuMicrosecondsEach };
}

const describe = ({ perSecond, p50, p99 }: Run): string =>
  `${perSecond.toFixed(0)}/s, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`;

/** Columns of the table that `rowsOf` fills. */
export const columns = [
  '',
  'per second',
  'p50 ms',
  'p99 ms',
  'CPU µs: gateway + service',
  'product / this',
  'CPU this / product',
];

/** One row a side: medians over the rounds, and the medians of the ratios within each round. */
export function rowsOf(name: string, runs: Runs): string[][] {
  const [product = []] = runs.values();
  return [...runs].map(([side, measured]) => {
    const of = (value: (run: Run) => number) => median(measured.map(value));
    const each = (at: number) => of((run) => run.cpuMicrosecondsEach?.[at] ?? Number.NaN).toFixed(0);
    const toProduct = (ratio: (run: Run, same: Run) => number) =>
      measured === product ? '' : median(measured.map((run, at) => ratio(run, product[at]!))).toFixed(2);
    return [
      `${name}, ${side}`,
      of(({ perSecond }) => perSecond).toFixed(0),
      of(({ p50 }) => p50).toFixed(1),
      of(({ p99 }) => p99).toFixed(1),
      `${each(0)} + ${each(1)}`,
      toProduct((run, same) => same.perSecond / run.perSecond),
      toProduct((run, same) => wholeCpu(run) / wholeCpu(same)),
    ];
  });
}

const wholeCpu = ({ cpuMicrosecondsEach }: Run): number =>
  cpuMicrosecondsEach?.reduce((sum, each) => sum + each, 0) ?? Number.NaN;
