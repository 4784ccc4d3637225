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

withCompose('INTERNAL_TLS makes all calls between services HTTPS, with the certificate of each', () => {
  const text = compose(['--env-file', '/dev/null', 'config', '--format', 'json'], { INTERNAL_TLS: 'on' });
  const { services } = JSON.parse(text) as { services: Record<string, Pick<Gateway, 'environment'>> };
  const variables = Object.values(services).flatMap(({ environment = {} }) => Object.entries(environment));
  const urls = variables.filter(([name]) => /^(LOGIN|SECRETS|SYNC_CONTROL)_URL$/.test(name));
  expect(urls).toHaveLength(3 + 1 + 2 * 3 + 1);
  expect(urls.filter(([, url]) => !url.startsWith('https:'))).toEqual([]);
  const callers = Object.entries(services).filter(([, { environment = {} }]) => environment.SECRETS_URL);
  for (const [, { environment }] of callers) expect(environment.INTERNAL_TLS_DIR).toBe('/run/keys');
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
