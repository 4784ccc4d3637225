import { type Figure, figure } from '../output/figure.ts';
import { cpuMicroseconds } from './cpu-time.ts';
import { type LoadJob, type LoadResult, load } from './load.ts';
import { median } from './statistics.ts';

/** One of the systems that are compared: the product or a skeleton. */
export interface Side {
  name: string;
  url: string;
  /** Its processes, the gateway first. The CPU time of their child processes counts too. */
  pids: number[];
}

/** One kind of request, sent to every side. */
export interface Load {
  name: string;
  job: RequestsJob | ((side: Side) => RequestsJob);
}

type RequestsJob = Pick<LoadJob, 'method' | 'headers' | 'paths' | 'bodies'>;

export interface Run extends LoadResult {
  /** CPU time per request in each of the side's processes; undefined if the operating system does not report it. */
  cpuMicrosecondsEach: number[] | undefined;
}

/** The runs of each side by its name, in the order of the rounds. */
export type Runs = Map<string, Run[]>;

export interface Rounds {
  rounds: number;
  seconds: number;
  log: (line: string) => void;
}

/** Requests at once. */
export const connections = 32;
const warmUpSeconds = 3;

/** Measures one kind of load on all sides in turn, in each round. Every round begins with another side. */
export async function alternate(sides: Side[], kind: Load, { rounds, seconds, log }: Rounds): Promise<Runs> {
  const runs: Runs = new Map(sides.map(({ name }) => [name, []]));
  for (const side of sides) await runOnce(side, kind, warmUpSeconds);
  for (let round = 0; round < rounds; round += 1) {
    const inTurn = sides.map((_, at) => sides[(at + round) % sides.length]!);
    for (const side of inTurn) {
      const run = await runOnce(side, kind, seconds);
      runs.get(side.name)?.push(run);
      log(`round ${round + 1} of ${rounds}, ${kind.name}, ${side.name}: ${describe(run)}`);
    }
  }
  return runs;
}

async function runOnce(side: Side, { job }: Load, seconds: number): Promise<Run> {
  const requests = typeof job === 'function' ? job(side) : job;
  const before = cpuMicroseconds(side.pids);
  const result = await load({ ...requests, url: side.url, connections, seconds }).catch((cause: unknown) => {
    throw new Error(`the load on ${side.name} failed`, { cause });
  });
  const after = cpuMicroseconds(side.pids);
  const cpuMicrosecondsEach = after?.map((used, at) => (used - (before?.[at] ?? 0)) / result.requests);
  return { ...result, cpuMicrosecondsEach };
}

const describe = ({ perSecond, p50, p99 }: Run): string =>
  `${perSecond.toFixed(0)}/s, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`;

/** The columns of `rowsOf`. */
export const columns = [
  '',
  'per second',
  'p50 ms',
  'p99 ms',
  'CPU µs: gateway + service',
  'product / this',
  'CPU this / product',
];

/** Returns one row per side: medians over the rounds, and medians of the ratios within each round. */
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
      toProduct((run, same) => totalCpu(run) / totalCpu(same)),
    ];
  });
}

/** Compares the product with another side: requests per second, the median of the ratios within each round. */
export function shareOf(name: string, runs: Runs, other: string, atLeast?: number): Figure {
  const [product = []] = runs.values();
  const base = runs.get(other)!;
  const perSecond = (of: readonly Run[]) => median(of.map((run) => run.perSecond));
  return figure({
    name: `${name}, against the ${other}`,
    measured: perSecond(product),
    unit: 'requests/s',
    peer: { name: `the ${other}`, measured: perSecond(base) },
    ratio: median(product.map((run, at) => run.perSecond / base[at]!.perSecond)),
    ...(atLeast === undefined ? {} : { target: { of: 'ratio', atLeast } }),
  });
}

const totalCpu = ({ cpuMicrosecondsEach }: Run): number =>
  cpuMicrosecondsEach?.reduce((sum, each) => sum + each, 0) ?? Number.NaN;
