import { fileURLToPath } from 'node:url';
import { expect } from '@jest/globals';
import { compose, withCompose } from './compose-config.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
interface Gateway {
  environment: Record<string, string>;
  volumes: { type: string; source: string; target: string; read_only?: boolean }[];
  healthcheck: { test: string[] };
}

function gatewayWith(env: Record<string, string>): Gateway {
  const text = compose(['--env-file', '/dev/null', 'config', '--format', 'json'], env);
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
