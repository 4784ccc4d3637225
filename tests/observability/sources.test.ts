import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { workers } from '../../services/setup/src/database-roles.ts';
import { obstacle, promtool } from './prometheus.ts';
import { alerts, dashboardQueries, metricsIn, scrapedJobs } from './sources.ts';

const root = new URL('../../', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, root), 'utf8');

if (obstacle !== undefined) console.warn(`not run: tests with promtool: ${obstacle}`);
const withPromtool = obstacle === undefined ? test : test.skip;

withPromtool('the configuration of Prometheus and the rules are valid', () => {
  expect(promtool('check', 'config', 'prometheus.yml')).toContain(`${alerts().length} rules found`);
});

withPromtool('each alert fires for what it is about, and none in a quiet system', () => {
  expect(promtool('test', 'rules', 'alerts.test.yml')).toContain('SUCCESS');
  const tested = [...read('observability/alerts.test.yml').matchAll(/alertname: (\w+)/g)].map(
    ([, name]) => name,
  );
  expect([...new Set(tested)]).toEqual(alerts().map(({ name }) => name));
});

test('Prometheus scrapes each service of the Compose file on the port that it serves metrics on', () => {
  const services = read('docker-compose.yml').split(/^ {2}(?=[a-z-]+:\n)/m);
  const portOf = (name: string) => {
    const service = services.find((text) => text.startsWith(`${name}:\n`)) ?? '';
    return Number((/INTERNAL_PORT: (\d+)/.exec(service) ?? / PORT: (\d+)/.exec(service))?.[1]);
  };
  const names = ['gateway', 'login', 'secrets', 'sync-control', ...workers];
  const jobs = scrapedJobs();
  expect(jobs.map(({ job, name, port }) => [job, name, port])).toEqual([
    ...names.map((name) => [name, name, portOf(name)]),
    ['rabbitmq', 'rabbitmq', 15692],
  ]);
});

test('each alert has its section in the documentation, where its runbook link leads', () => {
  const page = 'docs/operations/alerts.md';
  const headings = [...read(page).matchAll(/^## (\w+)$/gm)].map(([, name]) => name!);
  expect(headings).toEqual(alerts().map(({ name }) => name));
  const links = [...read('observability/alerts.yml').matchAll(/^ +runbook_url: "(.*)"$/gm)].map(
    ([, url]) => url,
  );
  expect(links).toEqual(headings.map((name) => `{{ $externalLabels.docs }}${page}#${name.toLowerCase()}`));
});

test('the documentation explains each metric of the rules and the dashboard', () => {
  const page = read('docs/operations/monitoring.md');
  const documented = (name: string) => page.includes(`\`${name}\``) || page.includes(`\`${name}{`);
  const queries = [
    ...alerts().map(({ expression }) => expression),
    ...dashboardQueries('1m').map(({ query }) => query),
  ];
  const metrics = new Set(queries.flatMap(metricsIn).map((name) => name.replace(/_(bucket|count|sum)$/, '')));
  const own = [...metrics].filter((name) => /^(gateway|logins|sync)_/.test(name));
  expect(own.length).toBeGreaterThan(10);
  expect(own.filter((name) => !documented(name))).toEqual([]);
});
