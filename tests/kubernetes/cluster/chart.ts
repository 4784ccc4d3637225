import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { destinationTypes } from '@secrets/destinations';
import { stringify } from 'yaml';
import { mustRun } from '../../clients/run.ts';
import { programFile } from '../install.ts';
import { root } from './images.ts';
import { apply, kubectl, untilAvailable } from './kubectl.ts';
import { applyKeySecrets } from './overlay.ts';
import { clientNamespace } from './writing-client/writing-client.ts';

const timeoutMs = 1_200_000;
export const host = 'secrets.example.com';
const services = ['gateway', 'login', 'secrets', 'sync-control'];
const workers = Object.keys(destinationTypes).map((type) => `sync-worker-${type.toLowerCase()}`);

export const helm = (namespace: string, ...args: string[]): Promise<string> =>
  mustRun(programFile('helm'), [...args, '-n', namespace], { timeoutMs });

/** A certificate for the host, and its key. */
export interface Certificate {
  pem: string;
  key: string;
}

export function createCertificate(): Certificate {
  const folder = mkdtempSync(join(tmpdir(), 'certificate-'));
  try {
    const [key, certificate] = [join(folder, 'tls.key'), join(folder, 'tls.crt')];
    const kind = [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-days',
      '2',
    ];
    const names = ['-subj', `/CN=${host}`, '-addext', `subjectAltName=DNS:${host}`];
    execFileSync('openssl', [...kind, ...names, '-keyout', key, '-out', certificate], { stdio: 'pipe' });
    return { pem: readFileSync(certificate, 'utf8'), key: readFileSync(key, 'utf8') };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Creates a namespace with PostgreSQL and RabbitMQ of the overlay `local`, the keys, and the certificate. */
export async function prepareNamespace(
  namespace: string,
  keys: string,
  certificate: Certificate,
): Promise<void> {
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  await apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } }]);
  await applyKeySecrets(keys, namespace);
  const metadata = { name: 'gateway-tls', namespace };
  const stringData = { 'tls.crt': certificate.pem, 'tls.key': certificate.key };
  await apply([{ apiVersion: 'v1', kind: 'Secret', metadata, type: 'kubernetes.io/tls', stringData }]);
  for (const server of ['postgres', 'rabbitmq'])
    await apply(readFileSync(join(root, 'k8s/overlays/local', `${server}.yaml`), 'utf8'), '-n', namespace);
  for (const server of ['postgres', 'rabbitmq'])
    await kubectl(['rollout', 'status', '-n', namespace, `statefulset/${server}`, '--timeout=10m']);
}

/** Runs `helm install` or `helm upgrade` with the chart of a folder, and waits as NOTES.txt says. */
export async function release(
  verb: 'install' | 'upgrade',
  namespace: string,
  { folder, tag, recipient }: { folder: string; tag: string; recipient: string },
): Promise<void> {
  const temporary = mkdtempSync(join(tmpdir(), 'values-'));
  try {
    const file = join(temporary, 'values.yaml');
    writeFileSync(file, stringify(await valuesFor(namespace, tag, recipient)));
    await helm(namespace, verb, 'secrets', join(folder, 'k8s/chart'), '--values', file);
    for (const name of [...services, ...workers])
      await kubectl(['rollout', 'status', '-n', namespace, `deployment/${name}`, '--timeout=15m']);
    await untilAvailable(namespace);
  } finally {
    rmSync(temporary, { recursive: true });
  }
}

/** The example of docs/kubernetes.md for servers at these addresses, with requests that fit a small cluster. */
async function valuesFor(namespace: string, tag: string, recipient: string): Promise<object> {
  const small = { resources: { requests: { cpu: '25m' } } };
  const names = [...services, ...workers];
  return {
    image: { tag },
    database: { cidrs: await addressesOf(namespace, 'postgres') },
    broker: { cidrs: await addressesOf(namespace, 'rabbitmq'), port: 5672, apiPort: 15672 },
    ingress: { host, className: 'nginx' },
    networkPolicies: {
      clients: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': clientNamespace } } }],
    },
    settings: { BACKUP_RECIPIENTS: recipient },
    services: Object.fromEntries(names.map((name) => [name, small])),
  };
}

/** The address of the Service and of the pod: network plug-ins compare either. */
async function addressesOf(namespace: string, server: string): Promise<string[]> {
  const path = (of: string) => ['-n', namespace, '-o', `jsonpath={${of}}`];
  const service = await kubectl(['get', 'service', server, ...path('.spec.clusterIP')]);
  const pod = await kubectl(['get', 'pod', `${server}-0`, ...path('.status.podIP')]);
  return [`${service}/32`, `${pod}/32`];
}
