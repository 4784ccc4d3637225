import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Installation, startInstallation } from '../harness/installation.ts';
import { alerts, dashboardQueries, metricsIn } from './sources.ts';

let system: Installation;
beforeAll(async () => {
  system = await startInstallation();
});
afterAll(() => system?.stop());

const internal = async (path: string) => {
  const response = await fetch(`http://127.0.0.1:${system.env.INTERNAL_PORT}${path}`);
  return { status: response.status, text: await response.text() };
};

test('the internal port of a standalone installation has the metrics of each service, once', async () => {
  await system.api('GET', 'sys/mounts');
  const { text } = await internal('/metrics');
  const helps = [...text.matchAll(/^# HELP (\S+)/gm)].map(([, name]) => name!);
  expect(new Set(helps).size).toBe(helps.length);
  expect(text).toMatch(/^gateway_requests_total\{[^}]*operation="read"[^}]*service="gateway"[^}]*\} 1$/m);
  for (const service of ['standalone', 'login', 'secrets', 'sync-control', 'sync-worker-codehost'])
    expect(text).toContain(`service="${service}"`);
});

test('it has every metric of our own in the alerts and the dashboard', async () => {
  const queries = [
    ...alerts().map((alert) => alert.expression),
    ...dashboardQueries('1m').map((one) => one.query),
  ];
  const used = new Set(queries.flatMap(metricsIn).map((name) => name.replace(/_(bucket|count|sum)$/, '')));
  const own = [...used].filter((name) => /^(gateway|logins|sync|access)_/.test(name));
  const { text } = await internal('/metrics');
  expect(own.filter((name) => !text.includes(`# HELP ${name} `))).toEqual([]);
});

test('it has probes, and no API', async () => {
  expect(await internal('/livez')).toMatchObject({ status: 200 });
  expect(await internal('/readyz')).toMatchObject({ status: 200 });
  expect(await internal('/v1/sys/health')).toMatchObject({ status: 404 });
});
