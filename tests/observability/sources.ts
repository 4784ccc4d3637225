import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { folder } from './prometheus.ts';

const read = (file: string): string => readFileSync(join(folder, file), 'utf8');

interface Panel {
  title: string;
  targets?: { expr: string }[];
}

/** The queries of the dashboard, by panel. Grafana chooses the time of a rate; here, it is `rate`. */
export const dashboardQueries = (rate: string): { panel: string; query: string }[] =>
  (JSON.parse(read('grafana/dashboards/secrets-service.json')) as { panels: Panel[] }).panels.flatMap(
    ({ title, targets = [] }) =>
      targets.map(({ expr }) => ({ panel: title, query: expr.replaceAll('$__rate_interval', rate) })),
  );

/** The alerts with their expressions. */
export const alerts = (): { name: string; expression: string }[] =>
  [...read('alerts.yml').matchAll(/- alert: (\w+)\n\s+expr: (?:\|-\n\s+)?(.*)/g)].map(
    ([, name, expression]) => ({ name: name!, expression: expression! }),
  );

/** The scraped ports by job, and the names that are resolved for them. */
export const scrapedJobs = (): { job: string; name: string; port: number }[] =>
  [...read('prometheus.yml').matchAll(/job_name: (\S+)\n.*\n.*names: \[(\S+)\]\n.*\n\s+port: (\d+)/g)].map(
    ([, job, name, port]) => ({ job: job!, name: name!, port: Number(port) }),
  );

/** Words of the query language in lower case that are followed by a bracket or a list of labels. */
const metricName = /\b([a-z_]+:?[a-z0-9_]*)(?=[{[) ]|$)/g;
const keywords = new Set([
  'by',
  'le',
  'max',
  'min',
  'sum',
  'rate',
  'increase',
  'histogram_quantile',
  'or',
  'and',
]);

/** The names of metrics in a query, without those of labels. */
export function metricsIn(query: string): string[] {
  const withoutLabels = query.replaceAll(/\b(by|without) \([^)]*\)/g, '').replaceAll(/\{[^}]*\}/g, ' ');
  const names = [...withoutLabels.matchAll(metricName)].map(([, name]) => name!);
  return [...new Set(names)].filter((name) => !keywords.has(name));
}
