import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createMetrics } from '@secrets/telemetry';
import { type RunningServer, startServer } from '../server/server.ts';
import { operatorApp } from './service-app.ts';

let server: RunningServer;
const down = new Set<string>();
let skewMs = 0;
const check = (part: string) => async () => {
  if (down.has(part)) throw new Error('away');
};

beforeAll(async () => {
  const app = operatorApp({
    metrics: createMetrics('test', { processMetrics: false }),
    readiness: { database: check('database'), broker: check('broker') },
    background: ['broker'],
    databaseTime: () => Date.now() - skewMs,
  });
  server = await startServer(app, { host: '127.0.0.1', port: 0 });
});
afterAll(() => server?.stop(1_000));

test.each([
  ['ahead of', 90_000, 90],
  ['behind', -90_000, -90],
])(
  'a clock that is 90 s %s that of the database is a note and a metric, not a failure',
  async (where, ms, seconds) => {
    skewMs = ms;
    const response = await fetch(`${server.url}/readyz`);
    expect([response.status, await response.json()]).toEqual([
      200,
      {
        ready: true,
        missing: [],
        notes: [`the clock of this process is 90.0 s ${where} that of the database`],
      },
    ]);
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    const value = Number(/^database_clock_skew_seconds\{[^}]*\} (.*)$/m.exec(metrics)?.[1]);
    expect(Math.round(value)).toBe(seconds);
  },
);

test('a clock that differs by less than a second is not worth a note', async () => {
  skewMs = 900;
  expect(await (await fetch(`${server.url}/readyz`)).json()).toEqual({ ready: true, missing: [] });
});

const ready = async (query = '') => {
  const response = await fetch(`${server.url}/readyz${query}`);
  return [response.status, ((await response.json()) as { missing: string[] }).missing];
};

test('what only background work needs does not keep requests away', async () => {
  expect([await ready(), await ready('?traffic')]).toEqual([
    [200, []],
    [200, []],
  ]);
  down.add('broker');
  expect([await ready(), await ready('?traffic')]).toEqual([
    [503, ['broker']],
    [200, []],
  ]);
  down.add('database');
  expect([await ready(), await ready('?traffic')]).toEqual([
    [503, ['database', 'broker']],
    [503, ['database']],
  ]);
});
