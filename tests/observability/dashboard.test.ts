import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { sandboxTypes } from '../harness/destination-types.ts';
import { eventually } from '../harness/eventually.ts';
import { type Api, client, expectStatus } from '../harness/http.ts';
import { describeDistributed, type Suite } from '../outages/describe-distributed.ts';
import { dashboardData } from './dashboard-data.ts';
import { obstacle, type PrometheusServer, startPrometheus } from './prometheus.ts';
import { scrapedJobs } from './sources.ts';

const changes = 5;

/** The processes that each job scrapes. The harness names the workers of cloudA-sm otherwise. */
const jobOf = (processName: string): string =>
  processName.replace(/^worker(-\d)?$/, 'sync-worker-clouda-sm').replace(/-2$/, '');

function targetsByJob({ system }: Suite): Record<string, string[]> {
  const processes = Object.values(system.processes).filter(({ name }) => name !== 'sandbox');
  const groups = Map.groupBy(processes, ({ name }) => jobOf(name));
  return Object.fromEntries(
    [...groups].map(([job, of]) => [job, of.map(({ metricsAddress }) => metricsAddress)]),
  );
}

/** Writes secrets that are synced to every type, one that cannot be, and an unsuccessful login. */
async function load(suite: Suite, api: Api): Promise<void> {
  expectStatus(await api('POST', 'sys/mounts/kv', { type: 'kv', options: { version: '2' } }), 204);
  expectStatus(await api('POST', 'kv/data/s', { data: { k: randomBytes(8).toString('hex') } }), 200);
  for (const { type, fields } of sandboxTypes) {
    const path = `sys/sync/destinations/${type}/d`;
    expectStatus(await api('POST', path, fields(await suite.sandbox.store(type))), 200);
    const association = { mount: 'kv', secret_name: 's' };
    expectStatus(await api('POST', `${path}/associations/set`, association), 200);
  }
  await suite.sandbox.fault({ store: 'webhost-project', effect: 'throttle', times: 3, retryAfterSeconds: 1 });
  await api('POST', 'auth/cloudB/login', { role: 'none', jwt: 'none' });
}

/** Changes the secret again and again, so that there is a rate, until the work is done. */
async function loadUntil(api: Api, work: Promise<unknown>): Promise<void> {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  for (let at = 0; !isDone || at < changes; at += 1) {
    await api('POST', 'kv/data/s', { data: { k: String(at) } });
    await api('GET', 'kv/data/s');
    await api('POST', 'auth/cloudB/login', { role: 'none', jwt: 'none' });
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  await done;
}

const define = (suite: Suite) => {
  const api = () => client(suite.system.url, suite.system.rootToken);

  if (obstacle !== undefined) console.warn(`not run: the dashboard on a Prometheus server: ${obstacle}`);
  const withPrometheus = obstacle === undefined ? describe : describe.skip;
  withPrometheus('on a Prometheus server', () => {
    test('each service is scraped, and each query of the dashboard returns data', async () => {
      const targets = targetsByJob(suite);
      expect(Object.keys(targets).sort()).toEqual(
        scrapedJobs()
          .map(({ job }) => job)
          .filter((job) => job !== 'rabbitmq')
          .sort(),
      );
      await load(suite, api());
      const prometheus = await startPrometheus(targets);
      try {
        await loadUntil(api(), untilComplete(prometheus));
      } finally {
        await prometheus.stop();
      }
    });
  });

  /** Resolves when all targets are up and every query has data that are numbers. */
  async function untilComplete(prometheus: PrometheusServer): Promise<void> {
    const down = async () => (await prometheus.targets()).filter(({ health }) => health !== 'up');
    await eventually(down, (targets) => targets.length === 0);
    await eventually(
      () => dashboardData(prometheus),
      (panels) => panels.every(({ values }) => values.length > 0),
    );
    const types = await prometheus.query('count by (destination_type) (sync_latency_seconds_count)');
    expect(types.map(({ metric }) => metric.destination_type).sort()).toEqual(
      sandboxTypes.map(({ type }) => type).sort(),
    );
    const failing = await prometheus.query('ALERTS{alertname="InstanceDown"}');
    expect(failing).toEqual([]);
  }
};

await describeDistributed('the dashboard', define, { everyType: true, isLong: true });
