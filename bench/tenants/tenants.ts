import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchOptions } from '../command-line.ts';
import { type Figure, figure } from '../figure.ts';
import { cpuMicroseconds } from '../load/cpu-time.ts';
import { type LoadResult, load } from '../load/load.ts';
import { median } from '../load/statistics.ts';
import type { Report } from '../report.ts';
import { apiClient } from '../system/api-client.ts';
import { type Product, startProduct } from '../system/product.ts';
import { type Neighbour, prepareNeighbours } from './neighbours.ts';

const connections = 2;
const maxRatio = 1.1;
/** How long the neighbour has been busy when a turn begins. */
const warmUpMs = 5_000;

/** Measures what a tenant's tokens and policies cost the requests of another one. */
export async function benchTenants(options: BenchOptions): Promise<Report[]> {
  const product = await startProduct(options);
  try {
    const token = await prepareQuiet(product);
    const neighbours = await prepareNeighbours(await neighbourApi(product));
    const measured = new Map<string, Pair[]>();
    for (let round = 0; round < options.rounds; round += 1)
      for (const neighbour of neighbours) {
        const pair = await measurePair(product, token, neighbour, {
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

/** The tenant that is measured: a secret, and a token that may read it. Returns the token. */
async function prepareQuiet({ url, rootToken, api }: Product): Promise<string> {
  await api('POST', 'sys/namespaces/quiet', {});
  const own = apiClient(url, rootToken, 'quiet');
  await own('POST', 'sys/mounts/kv', { type: 'kv' });
  await own('POST', 'kv/data/app', { data: { password: 'p' } });
  await own('POST', 'sys/policies/acl/app', { policy: 'path "kv/data/*" { capabilities = ["read"] }' });
  const { auth } = (await own('POST', 'auth/token/create', { policies: ['app'] })) as {
    auth: { client_token: string };
  };
  return auth.client_token;
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
  token: string,
  { perSecond, ordinary, harmful }: Neighbour,
  { seconds, isReversed }: { seconds: number; isReversed: boolean },
): Promise<Pair> {
  const job = {
    ...{ url, method: 'GET' as const, paths: ['/v1/kv/data/app'], bodies: [], connections, seconds },
    headers: { 'x-service-token': token, 'x-service-namespace': 'quiet' },
  };
  const turn = async (work: () => Promise<unknown>): Promise<Turn> => {
    const pace = startPace(perSecond, work);
    await sleep(warmUpMs);
    const before = cpuMicroseconds([pids.gateway])?.[0];
    const result = await load(job);
    const after = cpuMicroseconds([pids.gateway])?.[0];
    const gatewayCpu =
      before === undefined || after === undefined ? undefined : (after - before) / 1e6 / seconds;
    return { ...result, ...(await pace.stop()), gatewayCpu };
  };
  const first = await turn(isReversed ? harmful : ordinary);
  const second = await turn(isReversed ? ordinary : harmful);
  return isReversed ? { ordinary: second, harmful: first } : { ordinary: first, harmful: second };
}

/** Calls `work` at a steady pace, whether or not earlier calls have ended. */
function startPace(perSecond: number, work: () => Promise<unknown>) {
  const started = performance.now();
  const calls = new Set<Promise<void>>();
  let begun = 0;
  let refused = 0;
  const begin = () => {
    if (calls.size >= perSecond) return; // as many as one second has
    begun += 1;
    const call = work()
      .then(() => undefined)
      .catch(() => {
        refused += 1;
      })
      .finally(() => calls.delete(call));
    calls.add(call);
  };
  const timer = setInterval(begin, 1_000 / perSecond);
  return {
    stop: async () => {
      clearInterval(timer);
      const neighbourPerSecond = (begun * 1_000) / (performance.now() - started);
      await Promise.all(calls);
      return { neighbourPerSecond, refused };
    },
  };
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
      `the neighbour begins ${warmUpMs / 1_000} s before each turn`,
      'CPU: of the gateway, per request of the tenant that is measured',
      `${connections} connections; ratios within a pair of turns of ${seconds} s, median of ${rounds} rounds; one gateway and one process of each service, on one Postgres`,
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
