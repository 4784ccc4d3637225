import { expect, test } from '@jest/globals';
import { seal } from '@secrets/seal';
import { createLogger, loggerOf } from './logger.ts';
import { createMetrics } from './metrics.ts';

const lines = () => {
  const written: string[] = [];
  return { written, destination: { write: (line: string) => void written.push(line) } };
};

test('a log line is JSON with service, level name and fields', () => {
  const { written, destination } = lines();
  createLogger({ service: 'secrets', destination }).warn({ attempts: 2 }, 'sync failed');
  expect(JSON.parse(written[0]!)).toMatchObject({
    level: 'warn',
    service: 'secrets',
    attempts: 2,
    msg: 'sync failed',
  });
});

test('each service of a process has its own name in its lines, once', () => {
  const { written, destination } = lines();
  const log = createLogger({ service: 'standalone', destination });
  loggerOf(loggerOf(log, 'secrets'), 'gateway').info({}, 'ready');
  log.info({}, 'ready');
  expect(written.map((line) => line.match(/"service":"[^"]+"/g))).toEqual([
    ['"service":"gateway"'],
    ['"service":"standalone"'],
  ]);
});

test('masks secret fields that are logged by mistake', () => {
  const { written, destination } = lines();
  const log = createLogger({ service: 'x', destination });
  log.info(
    { value: seal('canary'), body: { jwt: 'canary', deep: { client_secret: 'canary' } }, token: 'canary' },
    'a',
  );
  log.error({ error: Object.assign(new Error('failed'), { response: { body: 'canary' } }) }, 'b');
  log.info({ headers: { authorization: 'canary' } }, 'c');
  expect(written.join()).not.toContain('canary');
  expect(written[1]).toContain('failed');
});

test('no gauge has the name of a counter', async () => {
  const gauges = [...(await createMetrics('secrets').text()).matchAll(/^# TYPE (\S+) gauge$/gm)];
  expect(gauges.length).toBeGreaterThan(5);
  expect(gauges.map(([, name]) => name).filter((name) => name!.endsWith('_total'))).toEqual([]);
});

test('labels metrics with the service', async () => {
  const metrics = createMetrics('secrets', { processMetrics: false });
  metrics.counter('requests_total', 'Requests', ['status']).inc({ status: '200' });
  metrics.counter('requests_total', 'Requests', ['status']).inc({ status: '200' });
  expect(await metrics.text()).toContain('requests_total{status="200",service="secrets"} 2');
});
