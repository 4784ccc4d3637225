import { expect } from '@jest/globals';
import { compose, withCompose } from './compose-config.ts';

interface Config {
  services: Record<string, { environment?: Record<string, string> }>;
}

/** The resource attributes of the services that are traced. */
function attributes(env: Record<string, string>): Set<string | undefined> {
  const text = compose(['--env-file', '/dev/null', 'config', '--format', 'json'], env);
  const { services } = JSON.parse(text) as Config;
  const traced = Object.values(services).filter(
    ({ environment = {} }) => environment.OTEL_RESOURCE_ATTRIBUTES !== undefined,
  );
  expect(traced.length).toBe(9);
  return new Set(traced.map(({ environment }) => environment?.OTEL_RESOURCE_ATTRIBUTES));
}

withCompose('traces have the resource attributes of the operator, and none of the Docker CLI', () => {
  expect(attributes({})).toEqual(new Set(['']));
  const own = 'deployment.environment.name=production';
  expect(attributes({ TRACE_RESOURCE_ATTRIBUTES: own })).toEqual(new Set([own]));
});
