import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';

interface Service {
  read_only?: boolean;
  tmpfs?: string[];
  cap_drop?: string[];
  cap_add?: string[];
  security_opt?: string[];
  mem_limit?: string;
  environment?: Record<string, unknown>;
}

const file = readFileSync(new URL('../../docker-compose.yml', import.meta.url), 'utf8');
const { services } = parse(file, { merge: true, maxAliasCount: -1 }) as { services: Record<string, Service> };

test('no container of the Compose stack can change its image, gain privileges or use unlimited memory', () => {
  expect(Object.keys(services).length).toBeGreaterThan(15);
  for (const [name, service] of Object.entries(services)) {
    const { read_only, cap_drop, security_opt, mem_limit } = service;
    expect({ name, read_only, cap_drop, security_opt, mem_limit }).toEqual({
      name,
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      mem_limit: expect.stringMatching(/^\d+[mg]$/),
    });
    expect([name, service.tmpfs]).toEqual([name, expect.arrayContaining(['/tmp'])]);
  }
});

test('only servers whose images begin as root keep capabilities, to become another user', () => {
  const kept = Object.entries(services).filter(([, { cap_add }]) => cap_add !== undefined);
  expect(Object.fromEntries(kept.map(([name, { cap_add }]) => [name, cap_add]))).toEqual({
    postgres: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'SETGID', 'SETUID'],
    rabbitmq: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'SETGID', 'SETUID'],
  });
});

test('no container of the Compose stack has a secret in its environment', () => {
  const secrets = Object.values(services).flatMap(({ environment = {} }) =>
    Object.keys(environment).filter((name) =>
      /(SECRET|PASSWORD|PASS|TOKEN|KEY|DATABASE_URL|AMQP_URL)$/.test(name),
    ),
  );
  expect(secrets).toEqual([]);
});
