import { observeCalls } from '../../simulation/observe-calls.ts';
import type { SimulatedStore, StoreContext } from '../simulated-store.ts';
import { changeByHand } from './change-by-hand.ts';
import { type AccessKey, AccessKeys, accessKeyFromSeed } from './credentials/access-keys.ts';
import type { Role } from './credentials/assume-role.ts';
import { cloudARoutes } from './endpoint/clouda-routes.ts';
import { allSecrets } from './store/all-secrets.ts';
import type { RegionRecord } from './store/region-store.ts';
import { RegionStores } from './store/region-stores.ts';

const NAME = 'cloudA-sm';
const DEFAULT_ACCOUNT = '123456789012';

export interface CloudAOptions {
  /** Accepted access keys; `credentials` contains the first. Default: one that is derived from the seed. */
  accessKeys?: AccessKey[];
  /** Roles that can be assumed, in addition to the default one. */
  roles?: Role[];
  /** The length of every session, whatever was requested. Default: as requested. */
  sessionSeconds?: number;
  /** How long a name stays reserved after a deletion without recovery. Default 300. */
  forcedDeleteMs?: number;
  /** How long replication to another region stays in progress. Default 100. */
  replicationMs?: number;
  /** Maximum number of versions per secret. Default 100, as in the real service. */
  versionLimit?: number;
}

export interface CloudA extends SimulatedStore {
  readonly credentials: Readonly<{ accessKeyId: string; secretAccessKey: string; roleArn: string }>;
}

/** Simulates the secrets manager of cloudA and its token service for assumed roles, on one endpoint. */
export function simulateCloudA(simulation: StoreContext, options: CloudAOptions = {}): CloudA {
  const { seed, now, persist, federation } = simulation;
  const accessKeys = options.accessKeys ?? [accessKeyFromSeed(seed, DEFAULT_ACCOUNT)];
  const [first] = accessKeys;
  if (!first) throw new RangeError('cloudA needs an access key');
  const { accessKeyId, secretAccessKey, accountId } = first;
  const roleArn = `arn:aws:iam::${accountId}:role/sandbox`;
  const regions = new RegionStores(persist, now);
  const calls = observeCalls(NAME, now);
  const { forcedDeleteMs = 300, replicationMs = 100, versionLimit = 100 } = options;
  return {
    ...calls.members,
    path: '/clouda',
    routes: cloudARoutes({
      calls: calls.context,
      keys: new AccessKeys(accessKeys, seed),
      regions,
      limits: { forcedDeleteMs, replicationMs, versionLimit },
      sts: {
        roles: [{ arn: roleArn }, ...(options.roles ?? [])],
        sessionSeconds: options.sessionSeconds,
        federation,
      },
    }),
    credentials: { accessKeyId, secretAccessKey, roleArn },
    secrets: () => allSecrets(regions),
    changeByHand: (change) => changeByHand(regions, change, { nowMs: now(), limit: versionLimit }),
    reset: () => {
      regions.clear();
      calls.clear();
      persist({ cleared: true });
    },
    replay: (record) => ('cleared' in record ? regions.clear() : regions.replay(record as RegionRecord)),
    snapshot: () => regions.snapshot(),
  };
}
