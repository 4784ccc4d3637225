import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchOptions } from '../command-line.ts';
import { cpuMicroseconds } from '../load/cpu-time.ts';
import { type LoadResult, load } from '../load/load.ts';
import { startPace } from '../load/pace.ts';
import { median } from '../load/statistics.ts';
import { type Figure, figure } from '../output/figure.ts';
import type { Report } from '../output/report.ts';
import { apiClient } from '../system/api-client.ts';
import { type Product, startProduct } from '../system/product.ts';
import { prepareQuietTenant } from '../system/quiet-tenant.ts';
import { type Neighbour, prepareNeighbours } from './neighbours.ts';

const connections = 2;
const maxRatio = 1.1;
/** Time for which the neighbour is busy before a measurement begins. */
const warmUpMs = 5_000;

/** Measures what a tenant's tokens and policies cost the requests of another one. */
export async function benchTenants(options: BenchOptions): Promise<Report[]> {
  const product = await startProduct(options);
  try {
    const headers = await prepareQuietTenant(product);
    const neighbours = await prepareNeighbours(await neighbourApi(product));
    const measured = new Map<string, Pair[]>();
    for (let round = 0; round < options.rounds; round += 1)
      for (const neighbour of neighbours) {
        const pair = await measurePair(product, headers, neighbour, {
          ...options,
          isReversed: round % 2 === 1,
        });
        measured.set(neighbour.name, [...(measured.get(neighbour.name) ?? []), pair]);
        options.log(describe(neighbour, pair));
      }
    return [reportOf(measured, options)];
  } finally {
    await product.stop();
  }
}

async function neighbourApi({ url, rootToken, api }: Product) {
  await api('POST', 'sys/namespaces/busy', {});
  return {
    api: apiClient(url, rootToken, 'busy'),
    apiOf: (token: string) => apiClient(url, token, 'busy'),
  };
}

interface Turn extends LoadResult {
  /** What the neighbour did per second, and how much of it was refused. */
  neighbourPerSecond: number;
  refused: number;
  /** CPU time of the gateway, in seconds per second; undefined if the operating system does not report it. */
  gatewayCpu: number | undefined;
}
interface Pair {
  ordinary: Turn;
  harmful: Turn;
}

async function measurePair(
  { url, pids }: Product,
  headers: Record<string, string>,
  { perSecond, ordinary, harmful }: Neighbour,
  { seconds, isReversed }: { seconds: number; isReversed: boolean },
): Promise<Pair> {
  const job = {
    ...{ url, method: 'GET' as const, paths: ['/v1/kv/data/app'], bodies: [], connections, seconds },
    headers,
  };
  const turn = async (work: () => Promise<unknown>): Promise<Turn> => {
    const pace = startPace(perSecond, work);
    await sleep(warmUpMs);
    const before = cpuMicroseconds([pids.gateway])?.[0];
    const result = await load(job);
    const after = cpuMicroseconds([pids.gateway])?.[0];
    const gatewayCpu =
      before === undefined || after === undefined ? undefined : (after - before) / 1e6 / seconds;
    const { perSecond: neighbourPerSecond, failed: refused } = await pace.stop();
    return { ...result, neighbourPerSecond, refused, gatewayCpu };
  };
  const first = await turn(isReversed ? harmful : ordinary);
  const second = await turn(isReversed ? ordinary : harmful);
  return isReversed ? { ordinary: second, harmful: first } : { ordinary: first, harmful: second };
}

const describe = ({ name }: Neighbour, { ordinary, harmful }: Pair): string =>
  `${name}: p50 ${ordinary.p50.toFixed(2)} and ${harmful.p50.toFixed(2)} ms, ` +
  `${ordinary.perSecond.toFixed(0)} and ${harmful.perSecond.toFixed(0)}/s, ` +
  `CPU of the gateway ${ordinary.gatewayCpu?.toFixed(3)} and ${harmful.gatewayCpu?.toFixed(3)} s/s, ` +
  `neighbour ${harmful.neighbourPerSecond.toFixed(0)}/s, ${harmful.refused} refused`;

function reportOf(measured: Map<string, Pair[]>, { seconds, rounds }: BenchOptions): Report {
  const rows = [...measured].map(([name, pairs]) => {
    const ratio = (of: (turn: Turn) => number) =>
      median(pairs.map(({ ordinary, harmful }) => of(harmful) / of(ordinary)));
    const p50 = ratio((turn) => turn.p50);
    return [
      name,
      median(pairs.map(({ harmful }) => harmful.p50)).toFixed(2),
      median(pairs.map(({ ordinary }) => ordinary.p50)).toFixed(2),
      p50.toFixed(2),
      ratio((turn) => turn.p99).toFixed(2),
      ratio((turn) => turn.perSecond).toFixed(2),
      ratio((turn) => (turn.gatewayCpu ?? Number.NaN) / turn.perSecond).toFixed(2),
      `p50 at most ${maxRatio} times`,
      p50 <= maxRatio ? 'yes' : 'NO',
    ];
  });
  const figures = [...measured].map(([name, pairs]) => readFigure(name, pairs));
  return {
    title: 'Reads of one tenant, next to what another one does',
    columns: [
      '',
      'p50 ms',
      'base p50',
      'p50 / base',
      'p99 / base',
      'per second / base',
      'CPU / base',
      'target',
      'met',
    ],
    rows,
    notes: [
      `base: the neighbour sends the same requests as often, but with 5 paths, a set of policies that is the same in each, or a look-up in place of a revocation`,
      'CPU: of the gateway, per request of the tenant that is measured',
      `${connections} connections; ratios within a pair of turns of ${seconds} s, median of ${rounds} rounds`,
    ],
    measured: Object.fromEntries(measured),
    figures,
  };
}

const readFigure = (name: string, pairs: readonly Pair[]): Figure =>
  figure({
    name: `p50 of reads: ${name}`,
    measured: median(pairs.map(({ harmful }) => harmful.p50)),
    unit: 'ms',
    peer: {
      name: 'next to an ordinary tenant',
      measured: median(pairs.map(({ ordinary }) => ordinary.p50)),
    },
    ratio: median(pairs.map(({ ordinary, harmful }) => harmful.p50 / ordinary.p50)),
    target: { of: 'ratio', atMost: maxRatio },
  });
