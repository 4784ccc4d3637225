import { randomBytes } from 'node:crypto';
import type { BenchOptions } from '../command-line.ts';
import { alternate, columns, type Load, rowsOf, type Side, shareOf } from '../load/alternate.ts';
import type { Figure } from '../output/figure.ts';
import type { Report } from '../output/report.ts';
import { type Api, forEach } from '../system/api-client.ts';
import { startProduct } from '../system/product.ts';
import { type Program, startProgram, stopPrograms } from '../system/program.ts';

const secrets = 1_000;
const valueBytes = 200;
/** Minimum throughput, as a share of that of the skeleton that caches tokens. */
const minShare = 0.75;

/**
 * Measures reads and writes of secrets, compared with a skeleton: bare express with a statement for each request and
 * the same encryption.
 */
export async function benchKv(options: BenchOptions): Promise<Report[]> {
  const { profiles } = options;
  const product = await startProduct(options);
  const skeleton: Program[] = [];
  try {
    const paths = Array.from({ length: secrets }, (_, at) => `bench/data/app-${at}`);
    await prepare(product.api, paths);
    const start = async (part: string, env: Record<string, string>) => {
      const program = await startProgram({ source: `bench/skeleton/${part}.ts`, env, profiles });
      skeleton.unshift(program);
      return program;
    };
    const shared = { DATABASE_URL: options.servers.databaseUrl };
    const service = await start('secrets', { ...shared, SEAL_KEY_FILE: product.sealKeyFile });
    const upstream = { ...shared, UPSTREAM_URL: service.url };
    const caching = await start('gateway', { ...upstream, TOKENS: 'cached' });
    const reading = await start('gateway', { ...upstream, TOKENS: 'read' });
    const sides: Side[] = [
      { name: 'product', url: product.url, pids: [product.pids.gateway, product.pids.secrets] },
      { name: 'skeleton, token cached', url: caching.url, pids: [caching.pid, service.pid] },
      { name: 'skeleton, token read', url: reading.url, pids: [reading.pid, service.pid] },
    ];
    const rows: string[][] = [];
    const measured: Record<string, unknown> = {};
    const figures: Figure[] = [];
    for (const kind of loadsOn(paths, product.rootToken)) {
      const runs = await alternate(sides, kind, options);
      rows.push(...rowsOf(kind.name, runs));
      measured[kind.name] = Object.fromEntries(runs);
      figures.push(shareOf(kind.name, runs, 'skeleton, token cached', minShare));
      figures.push(shareOf(kind.name, runs, 'skeleton, token read'));
    }
    return [{ title: 'Reads and writes of secrets', columns, rows, notes, measured, figures }];
  } finally {
    await stopPrograms(skeleton);
    await product.stop();
  }
}

const notes = [
  `32 connections; ${secrets} secrets, chosen at random, with values of ${valueBytes} bytes; one gateway and one service process each, on one Postgres`,
  'skeleton: bare Express and undici with one statement per request and the same encryption, without policies, audit, validation and metrics',
];

async function prepare(api: Api, paths: readonly string[]): Promise<void> {
  await api('POST', 'sys/mounts/bench', { type: 'kv', options: { version: '2' } });
  await forEach(paths, 16, (path) => api('POST', path, newSecret()));
}

const newSecret = () => ({ data: { password: randomBytes((valueBytes * 3) / 4).toString('base64') } });

function loadsOn(relativePaths: readonly string[], token: string): Load[] {
  const headers = { 'x-service-token': token };
  const paths = relativePaths.map((path) => `/v1/${path}`);
  const bodies = Array.from({ length: 100 }, () => JSON.stringify(newSecret()));
  const json = { ...headers, 'content-type': 'application/json' };
  return [
    { name: 'read', job: { method: 'GET', headers, paths, bodies: [] } },
    { name: 'write', job: { method: 'POST', headers: json, paths, bodies } },
  ];
}
