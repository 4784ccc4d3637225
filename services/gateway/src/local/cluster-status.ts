import { createHmac } from 'node:crypto';
import type { InternalKeys } from '@secrets/caller';
import type { Health } from './health.ts';
import { apiVersion, productVersion } from './versions.ts';

/**
 * The documents about the installation (docs/conventions/http.md#health-and-self-description). Nothing here depends
 * on the namespace.
 */
export interface ClusterStatus {
  /** The fields of `sys/health`. */
  health(health: Health): Health;
  /** The fields of `sys/seal-status`. */
  sealStatus: object;
}

/** There is no seal that an operator opens, and there are no standbys: these fields are the same as long as the service runs. */
export function clusterStatus(keys: InternalKeys): ClusterStatus {
  const identity = {
    ...{ version: apiVersion, service_version: productVersion },
    ...{ cluster_name: 'secrets-service', cluster_id: clusterId(keys) },
  };
  return {
    health: (health) => ({
      ...health,
      sealed: false,
      standby: false,
      performance_standby: false,
      replication_performance_mode: 'disabled',
      replication_dr_mode: 'disabled',
      server_time_utc: Math.floor(Date.now() / 1_000),
      ...identity,
    }),
    sealStatus: {
      type: 'shamir',
      initialized: true,
      sealed: false,
      t: 1,
      n: 1,
      progress: 0,
      nonce: '',
      build_date: '',
      migration: false,
      recovery_seal: false,
      storage_type: 'postgresql',
      ...identity,
    },
  };
}

/** The fields of `sys/leader`: every gateway serves every request. */
export const leader = {
  ha_enabled: false,
  is_self: false,
  active_time: '0001-01-01T00:00:00Z',
  leader_address: '',
  leader_cluster_address: '',
  performance_standby: false,
  performance_standby_last_remote_wal: 0,
};

/**
 * The same for every gateway of an installation, and another one for each installation, because it follows from the
 * internal keys.
 */
function clusterId(keys: InternalKeys): string {
  const digest = createHmac('sha256', keys.keyFor('gateway', 'login')).update('cluster ID').digest('hex');
  return digest.slice(0, 32).replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
