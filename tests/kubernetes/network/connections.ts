import { type Manifest, type Overlay, ofKind } from '../render.ts';
import { type NetworkPolicy, permissions } from './network-policies.ts';
import { peersOf, portsOf } from './peers.ts';

/** A connection that the policies permit, and the policies that do. */
export interface Connection {
  source: string;
  target: string;
  port: number;
  egress: string[];
  ingress: string[];
}

/** Returns all connections that the policies of an overlay permit to or from one of its pods. */
export function connectionsOf(overlay: Overlay, manifests: Manifest[]): Connection[] {
  const policies = ofKind(manifests, 'NetworkPolicy') as unknown as NetworkPolicy[];
  const peers = peersOf(overlay, manifests);
  const isOurs = (peer: (typeof peers)[number]) => peer.labels !== undefined && peer.namespace === undefined;
  return peers.flatMap((source) =>
    peers
      .filter((target) => isOurs(source) || isOurs(target))
      .flatMap((target) =>
        portsOf(manifests).flatMap((port) => {
          const { isPermitted, egress, ingress } = permissions(policies, source, target, port);
          const found = { source: source.name, target: target.name, port };
          return isPermitted ? [{ ...found, egress: egress.policies, ingress: ingress.policies }] : [];
        }),
      ),
  );
}
