import { readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { type Manifest, type Overlay, ofKind, overlays, render } from '../render.ts';
import { type Workload, workloadsOf } from '../workloads/workloads.ts';
import { arrowsOfArchitecture } from './architecture.ts';
import { arrowOf, arrowTable, groupedConnections } from './arrows.ts';
import { type Connection, connectionsOf } from './connections.ts';
import { type NetworkPolicy, permissions } from './network-policies.ts';

/** Connections that an overlay permits in addition to the arrows of ARCHITECTURE.md. */
const additions: Record<Overlay, string[]> = {
  local: ['login → sandbox', 'sync-worker-* → sandbox'],
  production: [
    'postgres → postgres',
    'postgres → the API server',
    'rabbitmq → rabbitmq',
    'rabbitmq → the API server',
    ...['gateway', 'login', 'secrets', 'sync-control', 'sync-worker-*', 'postgres', 'rabbitmq'].map(
      (target) => `Prometheus → ${target}`,
    ),
    ...['gateway', 'login', 'secrets', 'sync-control', 'sync-worker-*'].map(
      (name) => `${name} → the collector`,
    ),
    'the operator of Postgres → postgres',
    'the operator of RabbitMQ → rabbitmq',
  ],
  managed: [],
};

/** Who reaches the API from outside. */
const clients: Record<Overlay, string[]> = {
  local: ['outside', 'a pod of another namespace'],
  production: ['the Gateway'],
  managed: ['the Ingress controller'],
};

/** Ports of the servers, as the settings name them. */
const serverPorts: Record<Overlay, { rabbitmq: number }> = {
  local: { rabbitmq: 5672 },
  production: { rabbitmq: 5672 },
  managed: { rabbitmq: 5671 },
};

const architecture = [...new Set(arrowsOfArchitecture().map(arrowOf))];
const page = new URL('../../../docs/kubernetes.md', import.meta.url);

describe.each(overlays)('the overlay %s', (overlay) => {
  let connections: Connection[];
  let manifests: Manifest[];
  let workloads: Workload[];

  beforeAll(async () => {
    manifests = await render(overlay);
    connections = connectionsOf(overlay, manifests);
    workloads = workloadsOf(manifests);
  });

  test('permits the arrows of ARCHITECTURE.md and its own additions, and nothing else', () => {
    expect(architecture.length).toBeGreaterThan(15);
    const permitted = [...new Set(groupedConnections(connections).map(arrowOf))];
    expect(permitted.sort()).toEqual([...architecture, ...additions[overlay]].sort());
  });

  test('from outside, only the port of the API can be reached, and only that of the gateway', () => {
    const reached = connections.filter(({ source }) => clients[overlay].includes(source));
    expect(new Set(reached.map(({ target, port }) => `${target}:${port}`))).toEqual(
      new Set(['gateway:8200']),
    );
    if (overlay !== 'local') expect(connections.filter(({ source }) => source === 'outside')).toEqual([]);
  });

  test('only login and the workers connect to public addresses, on the ports of HTTP', () => {
    const outward = connections.filter(({ target }) => target === 'outside');
    expect([...new Set(outward.map(({ source }) => source))].sort()).toEqual(
      workloads
        .map(({ name }) => name)
        .filter((name) => name === 'login' || name.startsWith('sync-worker-'))
        .sort(),
    );
    expect(new Set(outward.map(({ port }) => port))).toEqual(new Set([80, 443]));
  });

  test('no pod reaches the metadata of the cloud, and no service a private address', () => {
    const services = connections.filter(({ source }) => source !== 'postgres' && source !== 'rabbitmq');
    const forbidden = ['the metadata of the cloud', 'a private address', 'a private IPv6 address'];
    expect(connections.filter(({ target }) => target === forbidden[0])).toEqual([]);
    expect(services.filter(({ target }) => forbidden.includes(target))).toEqual([]);
  });

  test('every pod may ask the DNS of the cluster, and no other pod of its namespace', () => {
    const policies = ofKind(manifests, 'NetworkPolicy') as unknown as NetworkPolicy[];
    const dns = policies.find(({ metadata }) => metadata.name === 'dns')!;
    const labels = { 'k8s-app': 'kube-dns' };
    const server = { name: 'DNS', namespace: 'kube-system', labels };
    const other = { name: 'other', namespace: 'kube-system', labels: {} };
    for (const { name, labels: own } of workloads) {
      const pod = { name, labels: own };
      expect(permissions(policies, pod, server, 53).egress.policies).toEqual(['dns']);
      expect(permissions(policies, pod, other, 53).isPermitted).toBe(false);
    }
    expect(dns.spec.egress![0]!.ports!.map(({ protocol }) => protocol)).toEqual(['UDP', 'TCP']);
  });

  test('each service reaches exactly what its settings name', () => {
    for (const { name, pod } of workloads.filter(({ kind }) => kind === 'Deployment')) {
      const settings = pod.containers[0]!.env!;
      const named = settings.flatMap(
        ({ value }) => /^http:\/\/([\w-]+):(\d+)$/.exec(value ?? '')?.slice(1) ?? [],
      );
      const urls = named.flatMap((host, at) => (at % 2 === 0 ? [`${host}:${named[at + 1]}`] : []));
      if (settings.some((setting) => setting.name === 'DATABASE_URL_FILE')) urls.push('postgres:5432');
      if (settings.some((setting) => setting.name === 'AMQP_URL_FILE'))
        urls.push(`rabbitmq:${serverPorts[overlay].rabbitmq}`);
      const reached = connections
        .filter(
          ({ source, target }) =>
            source === name && !['outside', 'sandbox', 'the collector'].includes(target),
        )
        .map(({ target, port }) => `${target}:${port}`);
      expect([name, reached.sort()]).toEqual([name, urls.sort()]);
    }
  });

  test('docs/kubernetes.md lists the policies of each connection', () => {
    const all = groupedConnections(connections);
    const isDrawn = (connection: (typeof all)[number]) => architecture.includes(arrowOf(connection));
    if (overlay === 'managed') {
      const toServers = all.filter(({ target }) => ['postgres', 'rabbitmq'].includes(target));
      expectTable('managed', arrowTable(toServers));
      return;
    }
    expectTable('arrows', arrowTable(all.filter(isDrawn)));
    expectTable(overlay, arrowTable(all.filter((connection) => !isDrawn(connection))));
  });
});

/** Compares the table below a comment `<!-- name -->` with this one, or writes it there with UPDATE_DOCS=1. */
function expectTable(name: string, table: string): void {
  const text = readFileSync(page, 'utf8');
  const mark = `<!-- ${name} -->\n\n`;
  const [before, after] = text.split(mark);
  expect([name, after]).toEqual([name, expect.any(String)]);
  const [written] = after!.split('\n\n', 1);
  if (process.env.UPDATE_DOCS === '1')
    writeFileSync(page, `${before}${mark}${table}${after!.slice(written!.length)}`);
  else expect(written).toBe(table);
}
