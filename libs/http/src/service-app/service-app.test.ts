import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createMetrics } from '@secrets/telemetry';
import { type RunningServer, startServer } from '../server/server.ts';
import { operatorApp } from './service-app.ts';

let server: RunningServer;
const down = new Set<string>();
const check = (part: string) => async () => {
  if (down.has(part)) throw new Error('away');
};

beforeAll(async () => {
  const app = operatorApp({
    metrics: createMetrics('test', { processMetrics: false }),
    readiness: { database: check('database'), broker: check('broker') },
    background: ['broker'],
  });
  server = await startServer(app, { host: '127.0.0.1', port: 0 });
});
afterAll(() => server?.stop(1_000));

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
