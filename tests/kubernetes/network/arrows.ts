import type { Connection } from './connections.ts';

/** Connections between the same two kinds of peers on one port. */
export interface Permitted {
  source: string;
  target: string;
  port: number;
  egress: string[];
  ingress: string[];
}

/** The workers are one peer, as in ARCHITECTURE.md, and what is outside of the cluster is another one. */
const grouped = (name: string): string => {
  if (name.startsWith('sync-worker-')) return 'sync-worker-*';
  if (name === 'the Gateway' || name === 'the Ingress controller' || strangers.includes(name))
    return 'outside';
  return name;
};

/** From anywhere means: from these too. */
const strangers = [
  'a pod of another namespace',
  'a private address',
  'a private IPv6 address',
  'the metadata of the cloud',
  'the API server',
];

/** Returns the connections with workers and strangers grouped, each pair and port once. Their policies are those of all. */
export function groupedConnections(connections: Connection[]): Permitted[] {
  const groups = new Map<string, Permitted>();
  for (const { source, target, port, egress, ingress } of connections) {
    const isServer = ['postgres', 'rabbitmq'].includes(source);
    const found = {
      source: grouped(source),
      target: isServer && grouped(target) === 'outside' ? 'the API server' : grouped(target),
      port,
    };
    const key = JSON.stringify(found);
    const known = groups.get(key) ?? { ...found, egress: [], ingress: [] };
    const union = (left: string[], right: string[]) => [...new Set([...left, ...right])];
    groups.set(key, {
      ...known,
      egress: union(known.egress, egress),
      ingress: union(known.ingress, ingress),
    });
  }
  return [...groups.values()];
}

export const arrowOf = ({ source, target }: { source: string; target: string }): string =>
  `${source} → ${target}`;

/** Returns the table of docs/kubernetes.md: a row for each target, with the sources that have the same ports and policies. */
export function arrowTable(permitted: Permitted[]): string {
  const sources = new Map<string, string[]>();
  for (const [arrow, same] of Map.groupBy(permitted, arrowOf)) {
    const policies = (side: 'egress' | 'ingress') =>
      [...new Set(same.flatMap((connection) => connection[side]))].map((name) => `\`${name}\``).join(', ') ||
      '–';
    const ports = [...new Set(same.map(({ port }) => port))].sort((left, right) => left - right);
    const [source, target] = arrow.split(' → ');
    const row = `${target} | ${ports.join(', ')} | ${policies('egress')} | ${policies('ingress')} |`;
    sources.set(row, [...(sources.get(row) ?? []), source!]);
  }
  return [
    '| Source | Target | Port | Policy of the source | Policy of the target |',
    '|---|---|---|---|---|',
    ...[...sources].map(([row, names]) => `| ${names.join(', ')} | ${row}`),
  ].join('\n');
}
