import { spawnSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { silentLogger } from '../logger.ts';
import { startTracing } from './start-tracing.ts';

const start = (env: Record<string, string>) => startTracing({ service: 'test', env, log: silentLogger() });

/**
 * Starts tracing in a process of its own, and returns how many files of the SDK it has loaded. prom-client loads the bare
 * interfaces anyway.
 */
function loadedWith(env: Record<string, string>): number {
  const index = new URL('../index.ts', import.meta.url).href;
  const program = `
    import { registerHooks } from 'node:module';
    let loaded = 0;
    registerHooks({ load: (url, context, next) => { if (/@opentelemetry.(?!api)/.test(url)) loaded += 1; return next(url, context); } });
    const { startTracing, silentLogger } = await import('${index}');
    await startTracing({ service: 'test', env: ${JSON.stringify(env)}, log: silentLogger() });
    process.stdout.write(String(loaded));
    process.exit();`;
  const args = ['--input-type=module', '--eval', program];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (stdout === '') throw new Error(stderr);
  return Number(stdout);
}

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' };

test('without an endpoint, or if it is switched off, nothing of the SDK is loaded', () => {
  expect(loadedWith({})).toBe(0);
  expect(loadedWith({ OTEL_EXPORTER_OTLP_ENDPOINT: '' })).toBe(0);
  expect(loadedWith({ ...endpoint, OTEL_SDK_DISABLED: 'true' })).toBe(0);
  expect(loadedWith({ ...endpoint, OTEL_TRACES_EXPORTER: 'none' })).toBe(0);
  expect(loadedWith(endpoint)).toBeGreaterThan(0);
});

test.each([
  [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'OTEL_EXPORTER_OTLP_PROTOCOL: only http/protobuf is supported'],
  [{ OTEL_TRACES_SAMPLER: 'some' }, /^OTEL_TRACES_SAMPLER: one of always_on, .* is required$/],
  [
    { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '2' },
    'OTEL_TRACES_SAMPLER_ARG: a number from 0 to 1 is required',
  ],
  [{ OTEL_BSP_SCHEDULE_DELAY: 'soon' }, 'OTEL_BSP_SCHEDULE_DELAY: a whole number is required'],
])('refuses %p', async (env, reason) => {
  await expect(start({ ...endpoint, ...env })).rejects.toThrow(reason);
});
