import { eventually, eventuallyEqual } from '../harness/eventually.ts';
import { sandboxControl } from '../harness/sandbox-control.ts';
import { prometheusApi } from '../observability/prometheus-api.ts';
import { queriesWithoutData } from '../observability/queries-without-data.ts';
import { dashboardQueries, scrapedJobs } from '../observability/sources.ts';
import { docker, type Stack } from './stack.ts';

/** Panels that are empty until something fails, with the reason. */
const afterFaultsOnly: Readonly<Record<string, string>> = {
  Faults: 'counts failed attempts by kind of fault, and the demo has none',
};
/** Prometheus reads the addresses of the containers, and their metrics, every 15 s. */
const scrapeTimeoutMs = 90_000;
const dashboardTimeoutMs = 300_000;

/** Throws unless Prometheus scrapes each running container of each service, and nothing else. Returns their number. */
export async function checkTargets(stack: Stack): Promise<string> {
  const prometheus = prometheusApi(stack.prometheusUrl);
  const names = new Map<string, string>();
  const expected: string[] = [];
  for (const { job, name, port } of scrapedJobs()) {
    const addresses = await stack.addresses(name);
    for (const [address, container] of addresses) names.set(`${address}:${port}`, container);
    expected.push(...[...new Set(addresses.values())].map((container) => `${job}: ${container} is up`));
  }
  expected.sort();
  const seen = async () =>
    (await prometheus.targets())
      .map(({ labels: { job, instance }, health }) => `${job}: ${names.get(instance)} is ${health}`)
      .sort();
  await eventuallyEqual(seen, expected, scrapeTimeoutMs);
  return `${expected.length} targets of ${scrapedJobs().length} jobs are up`;
}

/** Throws unless each query of the dashboard returns a number: all but those of faults while the demo runs, and all after a fault. */
export async function checkDashboard(stack: Stack): Promise<string> {
  const isExpected = ({ panel }: { panel: string }) => afterFaultsOnly[panel] !== undefined;
  const empty = await demoUntil(stack, (queries) => queries.every(isExpected));
  await sandboxControl(stack.sandboxUrl).fault({
    store: 'webhost-project',
    effect: 'throttle',
    times: 3,
    retryAfterSeconds: 1,
  });
  await demoUntil(stack, (queries) => queries.length === 0);
  const { length } = dashboardQueries('1m');
  const reasons = empty.map(({ panel, query }) => `${panel}: ${afterFaultsOnly[panel]}: ${query}`);
  return [
    `${length - empty.length} of ${length} queries return data after the demo, and all after a fault`,
    ...reasons,
  ].join('\n');
}

type Queries = Awaited<ReturnType<typeof queriesWithoutData>>;

/** Runs the demo again and again, so that there are rates, until the queries without data are as expected, and returns them. */
async function demoUntil(stack: Stack, isExpected: (queries: Queries) => boolean): Promise<Queries> {
  const prometheus = prometheusApi(stack.prometheusUrl);
  const look = async () => {
    await stack.demo();
    return queriesWithoutData(prometheus);
  };
  return eventually(look, isExpected, dashboardTimeoutMs);
}

/** Throws unless each container of a worker has processed entries, as its metrics say. Returns their numbers of attempts. */
export async function checkWorkOf(stack: Stack, worker: string): Promise<string> {
  const prometheus = prometheusApi(stack.prometheusUrl);
  const addresses = await stack.addresses(worker);
  const busy = async () => {
    const samples = await prometheus.query(
      `sum by (instance) (sync_attempt_seconds_count{job="${worker}"}) > 0`,
    );
    return samples.map(
      ({ metric, value }) => `${addresses.get(metric.instance!.split(':')[0]!)}: ${value[1]}`,
    );
  };
  const all = new Set(addresses.values()).size;
  const attempts = await eventually(
    async () => {
      await stack.demo();
      return busy();
    },
    (lines) => lines.length === all,
    dashboardTimeoutMs,
  );
  return `attempts by container: ${attempts.join(', ')}`;
}

/** Throws unless Grafana shows the dashboard to anyone. Says so if its image cannot be had. */
export async function checkGrafana(stack: Stack): Promise<string> {
  const image = (await stack.ask('config', '--images', 'grafana')).trim();
  const missing = await docker('image', 'inspect', image)
    .catch(() => docker('pull', '--quiet', image))
    .then(
      () => undefined,
      (error: Error) => error.message.trim().split('\n').at(-1),
    );
  if (missing !== undefined) return `not checked: ${image} cannot be pulled: ${missing}`;
  await stack.up(['grafana']);
  const status = async () =>
    (await fetch(`${stack.grafanaUrl}/api/dashboards/uid/secrets-service`).catch(() => undefined))?.status;
  await eventually(status, (code) => code === 200);
  return 'Grafana shows the dashboard';
}
