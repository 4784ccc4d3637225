import { expect } from '@jest/globals';
import { compose, withCompose } from './compose-config.ts';

const services = (args: readonly string[], env: Record<string, string> = {}) =>
  compose([...args, 'config', '--services'], env)
    .trim()
    .split('\n')
    .sort();

/** The services that are started in addition to those that need no profile. */
function addedServices(args: readonly string[], env: Record<string, string> = {}): string[] {
  const usual = services(['--env-file', '/dev/null']);
  return services(args, env).filter((name) => !usual.includes(name));
}

withCompose('the profile observability adds Prometheus and Grafana', () => {
  expect(addedServices(['--profile', 'observability'])).toEqual(['grafana', 'prometheus']);
});

withCompose(
  'the profile backup adds scheduled backups, and no profile that somebody starts as a whole adds a restore',
  () => {
    expect(addedServices(['--profile', 'backup'])).toEqual(['backup']);
  },
);

withCompose('sandbox.env adds the sandbox', () => {
  expect(addedServices(['--env-file', 'sandbox.env'])).toEqual(['sandbox']);
});

withCompose('COMPOSE_PROFILES selects the sandbox and the profile observability together', () => {
  const env = { COMPOSE_PROFILES: 'sandbox,observability' };
  expect(addedServices(['--env-file', 'sandbox.env'], env)).toEqual(['grafana', 'prometheus', 'sandbox']);
});
