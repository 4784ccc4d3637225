import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchOptions } from '../command-line.ts';
import { cpuMicroseconds } from '../load/cpu-time.ts';
import { type LoadResult, load } from '../load/load.ts';
import { startPace } from '../load/pace.ts';
import { median } from '../load/statistics.ts';
import { type Figure, figure, verdictOf } from '../output/figure.ts';
import type { Report } from '../output/report.ts';
import { type Product, startProduct } from '../system/product.ts';
import { prepareQuietTenant } from '../system/quiet-tenant.ts';
import { type Attack, prepareAttacks } from './attacks.ts';

const connections = 2;
const maxRatio = 3;
/** Time from the start of the attack to the start of a turn. */
const warmUpMs = 1_000;

/** Measures what requests that cost their sender little cost the reads of somebody else. */
export async function benchHostile(options: BenchOptions): Promise<Report[]> {
  const product = await startProduct(options);
  try {
    const headers = await prepareQuietTenant(product);
    const attacks = await prepareAttacks(product);
    const measured = new Map<string, { attack: Attack; pairs: Pair[] }>();
    for (let round = 0; round < options.rounds; round += 1)
      for (const attack of attacks) {
        const pair = await measurePair(product, headers, attack, options.seconds);
        const { pairs } = measured.get(attack.name) ?? { pairs: [] };
        measured.set(attack.name, { attack, pairs: [...pairs, pair] });
        options.log(describe(attack, pair));
      }
    return [reportOf([...measured.values()], options)];
  } finally {
    await product.stop();
  }
}

interface Pair {
  alone: LoadResult;
  beside: LoadResult;
  /** Requests of the attack per second. */
  reached: number;
  /** The status of its last response. */
  status: number;
  /**
   * CPU time that one of them takes in all services together, in milliseconds; undefined if the operating system does
   * not report it.
   */
  cpuMs: number | undefined;
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

/**
 * Measures reads alone, beside the attack, and alone again, so that a change of the machine's load affects both
 * figures.
 */
async function measurePair(
  product: Product,
  headers: Record<string, string>,
  attack: Attack,
  seconds: number,
): Promise<Pair> {
  const { url } = product;
  const read = (for_: number) =>
    load({ url, method: 'GET', headers, paths: ['/v1/kv/data/app'], bodies: [], connections, seconds: for_ });
  const cpuMs = await costOf(product, attack);
  const before = await read(seconds / 2);
  let status = 0;
  const pace = startPace(attack.perSecond, async () => {
    status = await attack.send();
  });
  await sleep(warmUpMs);
  const beside = await read(seconds);
  const { perSecond: reached } = await pace.stop();
  const after = await read(seconds / 2);
  const mean = (of: (result: LoadResult) => number) => (of(before) + of(after)) / 2;
  const alone = {
    requests: before.requests + after.requests,
    perSecond: mean((result) => result.perSecond),
    p50: mean((result) => result.p50),
    p99: mean((result) => result.p99),
  };
  return { alone, beside, reached, status, cpuMs };
}

const describe = ({ name }: Attack, { alone, beside, reached, status, cpuMs }: Pair): string =>
  `${name}: p99 ${alone.p99.toFixed(2)} and ${beside.p99.toFixed(2)} ms, ` +
  `${alone.perSecond.toFixed(0)} and ${beside.perSecond.toFixed(0)}/s, attack ${reached.toFixed(1)}/s with ${status}, ` +
  `${cpuMs?.toFixed(1)} ms of CPU each, load ${loadavg()[0]!.toFixed(1)}`;

type Measured = { attack: Attack; pairs: readonly Pair[] };

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
  const { attack, pairs } = measured;
  const p99 = figureOf(measured);
  return [
    attack.name,
    String(pairs.at(-1)!.status),
    (attack.bytes / 1_000).toFixed(1),
    median(pairs.map(({ reached }) => reached)).toFixed(1),
    median(pairs.map(({ cpuMs = Number.NaN }) => cpuMs)).toFixed(1),
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
    `reads over ${connections} connections, half before and half after the turn of ${seconds} s beside the attack; median of ${rounds} rounds`,
    `load average at the end: ${loadavg()
      .map((load) => load.toFixed(1))
      .join(', ')}`,
  ],
  measured: measured.map(({ attack, pairs }) => ({ name: attack.name, pairs })),
  figures: measured.map(figureOf),
});
