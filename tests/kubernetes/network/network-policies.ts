import { BlockList } from 'node:net';

interface Selector {
  matchLabels?: Record<string, string>;
  matchExpressions?: {
    key: string;
    operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
    values?: string[];
  }[];
}

interface PeerSelector {
  podSelector?: Selector;
  namespaceSelector?: Selector;
  ipBlock?: { cidr: string; except?: string[] };
}

interface Rule {
  from?: PeerSelector[];
  to?: PeerSelector[];
  ports?: { protocol: 'TCP' | 'UDP'; port: number | string; endPort?: number }[];
}

/** A NetworkPolicy: https://kubernetes.io/docs/concepts/services-networking/network-policies */
export interface NetworkPolicy {
  metadata: { name: string };
  spec: {
    podSelector: Selector;
    policyTypes?: ('Ingress' | 'Egress')[];
    ingress?: Rule[];
    egress?: Rule[];
  };
}

/** One end of a connection: a pod of this namespace, a pod of another one, or an address outside of the cluster. */
export interface Peer {
  name: string;
  /** Labels of a pod; absent for an address. */
  labels?: Record<string, string>;
  /** Name of the namespace, if it is another one. */
  namespace?: string;
  /** The address, of what is no pod. */
  address?: string;
  /** Ports that a policy may refer to by name. */
  ports?: Record<string, number>;
}

const holds = (selector: Selector, labels: Record<string, string>): boolean =>
  Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels[key] === value) &&
  (selector.matchExpressions ?? []).every(({ key, operator, values = [] }) => {
    const value = labels[key];
    if (operator === 'Exists') return value !== undefined;
    if (operator === 'DoesNotExist') return value === undefined;
    return operator === 'In' ? value !== undefined && values.includes(value) : !values.includes(value ?? '');
  });

function isSelected({ podSelector, namespaceSelector, ipBlock }: PeerSelector, peer: Peer): boolean {
  if (ipBlock !== undefined) return peer.address !== undefined && isInside(peer.address, ipBlock);
  if (peer.labels === undefined) return false;
  const isInNamespace =
    namespaceSelector === undefined
      ? peer.namespace === undefined
      : holds(namespaceSelector, { 'kubernetes.io/metadata.name': peer.namespace ?? 'secrets-service' });
  return isInNamespace && (podSelector === undefined || holds(podSelector, peer.labels));
}

function isInside(address: string, { cidr, except = [] }: { cidr: string; except?: string[] }): boolean {
  const contains = (range: string) => {
    const list = new BlockList();
    const [network, bits] = range.split('/');
    list.addSubnet(network!, Number(bits), network!.includes(':') ? 'ipv6' : 'ipv4');
    return list.check(address, address.includes(':') ? 'ipv6' : 'ipv4');
  };
  return contains(cidr) && !except.some(contains);
}

const hasPort = ({ ports }: Rule, port: number, target: Peer): boolean =>
  ports === undefined ||
  ports.some(({ protocol, port: first, endPort }) => {
    const number = typeof first === 'string' ? target.ports?.[first] : first;
    return protocol === 'TCP' && number !== undefined && port >= number && port <= (endPort ?? number);
  });

/**
 * The policies that permit one end of a connection. `isRestricted` is false if no policy selects this end: then all is
 * permitted.
 */
export interface Side {
  isRestricted: boolean;
  policies: string[];
}

/** Returns which policies permit a TCP connection at both of its ends. A peer outside of the namespace is not restricted. */
export function permissions(policies: NetworkPolicy[], source: Peer, target: Peer, port: number) {
  const side = (own: Peer, other: Peer, direction: 'Ingress' | 'Egress'): Side => {
    const selecting = policies.filter(
      ({ spec }) =>
        own.labels !== undefined &&
        own.namespace === undefined &&
        (spec.policyTypes ?? ['Ingress']).includes(direction) &&
        holds(spec.podSelector, own.labels),
    );
    const permitting = selecting.filter(({ spec }) =>
      (direction === 'Ingress' ? spec.ingress : spec.egress)?.some((rule) => {
        const peers = direction === 'Ingress' ? rule.from : rule.to;
        return hasPort(rule, port, target) && (peers?.some((peer) => isSelected(peer, other)) ?? true);
      }),
    );
    return { isRestricted: selecting.length > 0, policies: permitting.map(({ metadata }) => metadata.name) };
  };
  const egress = side(source, target, 'Egress');
  const ingress = side(target, source, 'Ingress');
  const passes = ({ isRestricted, policies: found }: Side) => !isRestricted || found.length > 0;
  return { isPermitted: passes(egress) && passes(ingress), egress, ingress };
}
