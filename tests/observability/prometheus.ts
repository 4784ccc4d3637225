import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePorts } from '../../scripts/free-ports.ts';
import { startChildServer } from '../../scripts/test-services/child-server.ts';
import { eventually } from '../harness/eventually.ts';
import { type PrometheusApi, prometheusApi } from './prometheus-api.ts';

export const folder = fileURLToPath(new URL('../../observability/', import.meta.url));

/** Why Prometheus cannot be used on this machine; undefined if it can. */
export const obstacle: string | undefined = ['prometheus', 'promtool'].every(
  (program) => spawnSync(program, ['--version']).status === 0,
)
  ? undefined
  : 'prometheus and promtool are not installed';

/** Runs promtool in `observability`. Throws, with its output, if it fails. */
export const promtool = (...args: string[]): string =>
  execFileSync('promtool', args, { cwd: folder, encoding: 'utf8' });

/** A Prometheus server that scrapes every second. */
export interface PrometheusServer extends PrometheusApi {
  stop(): Promise<void>;
}

/** Starts a server with the rules of `observability`, and these targets (host and port) by job. */
export async function startPrometheus(
  targets: Readonly<Record<string, readonly string[]>>,
): Promise<PrometheusServer> {
  const data = mkdtempSync(join(tmpdir(), 'test-prometheus-'));
  const config = {
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: [join(folder, 'alerts.yml')],
    scrape_configs: Object.entries(targets).map(([job_name, of]) => ({
      job_name,
      static_configs: [{ targets: of }],
    })),
  };
  const file = join(data, 'prometheus.yml');
  writeFileSync(file, JSON.stringify(config)); // YAML contains JSON
  const [port] = (await freePorts(1)) as [number];
  const server = await startChildServer({
    command: 'prometheus',
    args: [`--config.file=${file}`, `--storage.tsdb.path=${data}`, `--web.listen-address=127.0.0.1:${port}`],
    env: process.env,
    folder: data,
    port,
    stopSignal: 'SIGTERM',
  });
  // It listens before it serves.
  await eventually(
    async () => (await fetch(`http://127.0.0.1:${port}/-/ready`)).status,
    (status) => status === 200,
  );
  return { ...prometheusApi(`http://127.0.0.1:${port}`), stop: () => server.stop() };
}
