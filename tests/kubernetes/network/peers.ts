import type { Manifest, Overlay } from '../render.ts';
import { type Workload, workloadsOf } from '../workloads/workloads.ts';
import type { Peer } from './network-policies.ts';

/** The pods of the operators, with the labels that these give them. */
const operated: Peer[] = [
  { name: 'postgres', labels: { 'cnpg.io/cluster': 'postgres' } },
  {
    name: 'rabbitmq',
    labels: { 'app.kubernetes.io/name': 'rabbitmq', 'app.kubernetes.io/component': 'rabbitmq' },
  },
];

const gateway = { name: 'the Gateway', namespace: 'gateway-system', labels: {} };

/** Servers outside of the cluster, whose addresses the overlay for them names. */
const outside: Peer[] = [
  { name: 'postgres', address: '10.20.0.10' },
  { name: 'rabbitmq', address: '10.20.0.20' },
  { name: 'the Ingress controller', namespace: 'ingress-nginx', labels: {} },
];

/** Peers without any permitted connection, in either direction, unless a policy names them. */
const strangers: Peer[] = [
  { name: 'a pod of another namespace', namespace: 'other', labels: { 'app.kubernetes.io/name': 'gateway' } },
  { name: 'another pod of the namespace', labels: { app: 'other' } },
  { name: 'a private address', address: '10.1.2.3' },
  { name: 'the metadata of the cloud', address: '169.254.169.254' },
  { name: 'a private IPv6 address', address: 'fd00::1' },
  { name: 'the API server', address: '172.20.0.1' },
];

/** Peers in other namespaces that the overlay for production expects. */
const neighbours: Peer[] = [
  gateway,
  { name: 'Prometheus', namespace: 'monitoring', labels: { 'app.kubernetes.io/name': 'prometheus' } },
  {
    name: 'the collector',
    namespace: 'monitoring',
    labels: { 'app.kubernetes.io/name': 'opentelemetry-collector' },
  },
  { name: 'another pod beside Prometheus', namespace: 'monitoring', labels: {} },
  { name: 'the operator of Postgres', namespace: 'cnpg-system', labels: {} },
  { name: 'the operator of RabbitMQ', namespace: 'rabbitmq-system', labels: {} },
];

const publicAddresses: Peer[] = [
  { name: 'outside', address: '203.0.113.7' },
  { name: 'outside', address: '2606:4700::1' },
];

/** Returns everyone who might connect to someone in an overlay. */
export function peersOf(overlay: Overlay, manifests: Manifest[]): Peer[] {
  const pods = workloadsOf(manifests).map(podOf);
  const others = { local: [], production: [...operated, ...neighbours], managed: outside }[overlay];
  return [...pods, ...others, ...strangers, ...publicAddresses];
}

const podOf = ({ name, labels, pod }: Workload): Peer => ({
  name: name.replace(/^setup-.*/, 'setup'),
  labels,
  ports: Object.fromEntries(
    pod.containers.flatMap(({ ports = [] }) => ports.map((port) => [port.name, port.containerPort])),
  ),
});

/** Every port that a policy or a container names, and some that none does. */
export function portsOf(manifests: Manifest[]): number[] {
  const text = JSON.stringify(manifests);
  const named = [...text.matchAll(/"(?:port|containerPort|endPort)":(\d+)/g)].map(([, port]) => Number(port));
  return [...new Set([...named, 22, 53, 8080, 9999])];
}
