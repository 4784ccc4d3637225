import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchOptions } from '../command-line.ts';
import { cpuMicroseconds } from '../load/cpu-time.ts';
import { type LoadGenerator, type LoadResult, startLoad } from '../load/load.ts';
import { startPace } from '../load/pace.ts';
import { median } from '../load/statistics.ts';
import { type Figure, figure, verdictOf } from '../output/figure.ts';
import type { Report } from '../output/report.ts';
import { type Product, startProduct } from '../system/product.ts';
import { prepareQuietTenant } from '../system/quiet-tenant.ts';
import { type Attack, prepareAttacks } from './attacks/attacks.ts';

const connections = 2;
const maxRatio = 3;
const warmUpMs = 3_000;
/** The least time from the start of the attack to the start of a turn. */
const minWarmUpMs = 300;

/** Measures what requests that cost their sender little cost the reads of somebody else. */
export async function benchHostile(options: BenchOptions): Promise<Report[]> {
  const product = await startProduct(options);
  const generator = startLoad();
  try {
    const headers = await prepareQuietTenant(product);
    const prepared = await prepareAttacks(product);
    const attacks = prepared.filter(({ name }) => name.includes(options.only ?? ''));
    const reader: Reader = (seconds) =>
      generator.run({
        ...{ url: product.url, method: 'GET', headers, paths: ['/v1/kv/data/app'], bodies: [] },
        ...{ connections, seconds },
      });
    await reader(warmUpMs / 1_000);
    const measured: Measured[] = [];
    for (const attack of attacks) {
      const cpuMs = await costOf(product, attack);
      const pairs: Pair[] = [];
      for (let round = 0; round < options.rounds; round += 1)
        pairs.push(await measurePair(reader, attack, options.seconds / 2));
      measured.push({ attack, cpuMs, pairs });
      options.log(describe(measured.at(-1)!));
    }
    return [reportOf(measured, options)];
  } finally {
    generator.stop();
    await product.stop();
  }
}

/** Reads for so many seconds. */
type Reader = (seconds: number) => ReturnType<LoadGenerator['run']>;

interface Pair {
  alone: LoadResult;
  beside: LoadResult;
  /** Requests of the attack per second. */
  reached: number;
  /** The status of its last response. */
  status: number;
}

interface Measured {
  attack: Attack;
  /**
   * CPU time that one of its requests takes in all services together, in milliseconds; undefined if the operating system
   * does not report it.
   */
  cpuMs: number | undefined;
  pairs: readonly Pair[];
}

const costed = 10;

/**
 * One request after the other, with nothing beside them: unlike a delay, CPU time depends little on what else the
 * machine does.
 */
async function costOf({ pids }: Product, attack: Attack): Promise<number | undefined> {
  const used = () => cpuMicroseconds(Object.values(pids))?.reduce((sum, each) => sum + each, 0);
  await attack.send();
  const before = used();
  for (let at = 0; at < costed; at += 1) await attack.send();
  const after = used();
  return before === undefined || after === undefined ? undefined : (after - before) / 1_000 / costed;
}

/** Reads alone, and then beside the attack: short turns, so that other load of the machine affects both alike. */
async function measurePair(read: Reader, attack: Attack, seconds: number): Promise<Pair> {
  const alone = await read(seconds);
  let status = 0;
  const pace = startPace(attack.perSecond, async () => {
    status = await attack.send();
  });
  await sleep(Math.max(minWarmUpMs, 1_000 / attack.perSecond));
  const beside = await read(seconds);
  const { perSecond: reached } = await pace.stop();
  return { alone, beside, reached, status };
}

const describe = (measured: Measured): string =>
  `${rowOf(measured).slice(0, -1).join(', ')}, load ${loadavg()[0]!.toFixed(1)}`;

const ratioOf = ({ pairs }: Measured, of: (result: LoadResult) => number): number =>
  median(pairs.map(({ alone, beside }) => of(beside) / of(alone)));

const figureOf = (measured: Measured): Figure =>
  figure({
    name: `p99 of reads: ${measured.attack.name}`,
    measured: median(measured.pairs.map(({ beside }) => beside.p99)),
    unit: 'ms',
    peer: { name: 'alone', measured: median(measured.pairs.map(({ alone }) => alone.p99)) },
    ratio: ratioOf(measured, ({ p99 }) => p99),
    target: { of: 'ratio', atMost: maxRatio },
  });

function rowOf(measured: Measured): string[] {
  const { attack, cpuMs, pairs } = measured;
  const p99 = figureOf(measured);
  return [
    attack.name,
    String(pairs.at(-1)!.status),
    (attack.bytes / 1_000).toFixed(1),
    median(pairs.map(({ reached }) => reached)).toFixed(1),
    (cpuMs ?? Number.NaN).toFixed(1),
    p99.measured.toFixed(1),
    p99.peer!.measured.toFixed(1),
    p99.ratio!.toFixed(2),
    ratioOf(measured, ({ perSecond }) => perSecond).toFixed(2),
    verdictOf(p99),
  ];
}

const columns = [
  ...[
    '',
    'status',
    'kB each',
    'per second',
    'CPU ms each',
    'p99 ms',
    'alone',
    'p99 / alone',
    'reads / alone',
  ],
  `at most ${maxRatio}`,
];

const reportOf = (measured: readonly Measured[], { seconds, rounds }: BenchOptions): Report => ({
  title: 'Reads next to requests that cost their sender little',
  columns,
  rows: measured.map(rowOf),
  notes: [
    'up to 1 MB and 25 requests per second from one address, each sent whether or not earlier ones have been answered',
    `reads over ${connections} connections; medians of ${rounds} pairs of turns of ${seconds / 2} s, alone and beside the attack`,
    `load average at the end: ${loadavg()
      .map((load) => load.toFixed(1))
      .join(', ')}`,
  ],
  measured: measured.map(({ attack, cpuMs, pairs }) => ({ name: attack.name, cpuMs, pairs })),
  figures: measured.map(figureOf),
});
