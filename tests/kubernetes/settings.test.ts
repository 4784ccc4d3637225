import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { type Overlay, ofKind, overlays, render } from './render.ts';
import { type Variable, type Workload, workloadsOf } from './workloads/workloads.ts';

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');

/** A file of lines `NAME=value`. */
const readEnv = (file: string): Record<string, string> =>
  Object.fromEntries([...read(file).matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name!, value!]));

interface ComposeFile {
  services: Record<string, { environment?: Record<string, string | number> }>;
}

const { services: composed } = parse(read('docker-compose.yml'), {
  merge: true,
  maxAliasCount: -1,
}) as ComposeFile;

/** The names of the one-shot services. */
const jobs: Record<string, string> = {
  'setup-database': 'database',
  'setup-broker': 'broker',
  'setup-backup': 'backup',
};

/** Where an overlay differs that is meant for production. */
const ofProduction = {
  gateway: { TLS_CERT_FILE: '/run/tls/tls.crt', TLS_KEY_FILE: '/run/tls/tls.key' },
  // With public keys, the cluster keeps nothing that decrypts an archive.
  'setup-backup': { BACKUP_KEEP: '14', BACKUP_PASSPHRASE_FILE: undefined },
};

/** Compose can turn on TLS between services, which then have another port for probes and metrics. */
const withoutTls = { INTERNAL_TLS_DIR: undefined, INTERNAL_TLS: undefined, NODE_EXTRA_CA_CERTS: undefined };
const ofServices = Object.fromEntries(
  Object.keys(composed).map((name) => [
    name,
    ['login', 'secrets', 'sync-control'].includes(name)
      ? { ...withoutTls, INTERNAL_PORT: undefined }
      : withoutTls,
  ]),
);

/** The value of a setting of Compose as long as TLS between services is off. */
const plain = (value: unknown): string => String(value).replace(/\$\{INTERNAL_TLS:\+[^}]*\}/g, '');

/** Where Kubernetes differs on purpose. */
const differences: Record<Overlay | 'everywhere', Record<string, Record<string, string | undefined>>> = {
  everywhere: {
    // Every gateway writes to stdout; what collects the logs of the cluster keeps them.
    gateway: { AUDIT_FILE: '-' },
    login: {
      AZURE_CLIENT_ID: 'secret cloudb-login/client-id',
      // Not below /run/secrets: what injects the tokens of a workload identity mounts its own folders there.
      AZURE_CLIENT_SECRET_FILE: '/run/cloudb-login/client-secret',
    },
  },
  // In Compose, TLS depends on whether the operator names a folder.
  local: { gateway: { TLS_CERT_FILE: undefined, TLS_KEY_FILE: undefined } },
  production: ofProduction,
  managed: ofProduction,
};

/** A setting as a text that both sides can write: its value, or the name and default of what the operator sets. */
function described({ value, valueFrom }: Variable, defaults: Record<string, string>): string {
  const { configMapKeyRef: setting, secretKeyRef: secret } = valueFrom ?? {};
  if (secret !== undefined) return `secret ${secret.name}/${secret.key}`;
  return setting === undefined ? value! : `\${${setting.key}:-${defaults[setting.key] ?? ''}}`;
}

describe.each(overlays)('the overlay %s', (overlay) => {
  const defaults = readEnv('k8s/base/settings.env');
  let workloads: Workload[];
  let settings: Record<string, string>;

  beforeAll(async () => {
    const manifests = await render(overlay);
    workloads = workloadsOf(manifests).filter(({ name }) => composed[jobs[name] ?? name] !== undefined);
    settings = ofKind(manifests, 'ConfigMap')[0]!.data!;
  });

  test('every workload has the settings of its Compose service', () => {
    const seen = Object.fromEntries(
      workloads
        .filter(({ name }) => name !== 'postgres' && name !== 'rabbitmq')
        .map(({ name, pod }) => [
          name,
          Object.fromEntries(
            (pod.containers[0]!.env ?? []).map((variable) => [variable.name, described(variable, defaults)]),
          ),
        ]),
    );
    const expected = Object.fromEntries(
      Object.keys(seen).map((name) => [
        name,
        {
          ...Object.fromEntries(
            Object.entries(composed[jobs[name] ?? name]!.environment ?? {}).map(([variable, value]) => [
              variable,
              // The Docker CLI sets the variable itself, so Compose needs another name.
              plain(value).replace('TRACE_RESOURCE_ATTRIBUTES', 'OTEL_RESOURCE_ATTRIBUTES'),
            ]),
          ),
          ...ofServices[jobs[name] ?? name],
          ...differences.everywhere[name],
          ...differences[overlay][name],
        },
      ]),
    );
    expect(Object.keys(seen).length).toBeGreaterThan(10);
    expect(seen).toEqual(expected);
  });

  test('every service of the Compose stack runs', () => {
    const optional = overlay === 'local' ? [] : ['sandbox', 'postgres', 'rabbitmq']; // the latter belong to operators
    const scheduled = overlay === 'local' ? ['backup'] : [];
    const elsewhere = ['keys', 'restore', 'prometheus', 'grafana', ...scheduled, ...optional];
    expect(workloads.map(({ name }) => jobs[name] ?? name).sort()).toEqual(
      Object.keys(composed)
        .filter((name) => !elsewhere.includes(name))
        .sort(),
    );
  });

  test('every setting that an operator can change is used', () => {
    const used = workloads.flatMap(({ pod }) =>
      pod.containers.flatMap(({ env }) => env?.map(({ valueFrom }) => valueFrom?.configMapKeyRef?.key) ?? []),
    );
    expect(Object.keys(settings).filter((name) => !used.includes(name))).toEqual([]);
    expect(used.filter((name) => name !== undefined && settings[name] === undefined)).toEqual([]);
  });
});

test('the sandbox of the overlay local has the addresses of the one of Compose', () => {
  const { COMPOSE_PROFILES: _, ...expected } = readEnv('sandbox.env');
  expect(readEnv('k8s/overlays/local/sandbox.env')).toEqual(expected);
});
