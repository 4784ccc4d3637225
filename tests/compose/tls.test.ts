import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';

const root = fileURLToPath(new URL('../..', import.meta.url));
const withCompose =
  spawnSync('docker', ['compose', 'version']).status === 0
    ? test
    : (title: string, _run: () => void) =>
        test.skip(`${title}: docker compose is not installed`, () => undefined);

interface Gateway {
  environment: Record<string, string>;
  volumes: { type: string; source: string; target: string; read_only?: boolean }[];
  healthcheck: { test: string[] };
}

function gatewayWith(env: Record<string, string>): Gateway {
  const { TLS_FOLDER: _, ...others } = process.env;
  const args = ['compose', '--env-file', '/dev/null', 'config', '--format', 'json'];
  const text = execFileSync('docker', args, { cwd: root, env: { ...others, ...env }, encoding: 'utf8' });
  return (JSON.parse(text) as { services: { gateway: Gateway } }).services.gateway;
}

withCompose('the gateway of the Compose stack serves HTTP by default', () => {
  const { environment } = gatewayWith({});
  expect([environment.TLS_CERT_FILE, environment.TLS_KEY_FILE]).toEqual(['', '']);
});

withCompose('TLS_FOLDER is mounted read-only, and certificate and key are read from it', () => {
  const { environment, volumes, healthcheck } = gatewayWith({ TLS_FOLDER: './certificates' });
  expect(environment).toMatchObject({ TLS_CERT_FILE: '/run/tls/tls.crt', TLS_KEY_FILE: '/run/tls/tls.key' });
  expect(volumes).toContainEqual(
    expect.objectContaining({
      type: 'bind',
      source: `${root}certificates`,
      target: '/run/tls',
      read_only: true,
    }),
  );
  // The internal port has no TLS, so the health check is the same.
  expect(environment.INTERNAL_PORT).toBe('8201');
  expect(healthcheck.test.join(' ')).toContain('process.env.INTERNAL_PORT');
});
