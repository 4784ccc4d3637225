import { eventually, eventuallyEqual } from '../harness/eventually.ts';
import { dashboardData } from '../observability/dashboard-data.ts';
import { prometheusApi } from '../observability/prometheus-api.ts';
import { scrapedJobs } from '../observability/sources.ts';
import { docker, type Stack } from './stack.ts';

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

/**
 * Throws unless each query of the dashboard returns a number while the demo runs, and each rate is above 0, except that of
 * faults. Returns which panels show only 0: they count what must not happen.
 */
export async function checkDashboard(stack: Stack): Promise<string> {
  const prometheus = prometheusApi(stack.prometheusUrl);
  const isAboveZero = ({ values }: PanelData) => values.some((value) => value > 0);
  const isShown = (data: PanelData) =>
    data.query.includes('rate(') && data.panel !== 'Faults' ? isAboveZero(data) : data.values.length > 0;
  const notShown = async () => {
    await stack.demo(); // so that there are rates
    return (await dashboardData(prometheus)).filter((data) => !isShown(data));
  };
  await eventually(notShown, (panels) => panels.length === 0, dashboardTimeoutMs);
  const all = await dashboardData(prometheus);
  const zero = all.filter((data) => !isAboveZero(data)).map(({ panel }) => panel);
  return `all ${all.length} queries return data; only 0: ${zero.join(', ')}`;
}

type PanelData = Awaited<ReturnType<typeof dashboardData>>[number];

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
