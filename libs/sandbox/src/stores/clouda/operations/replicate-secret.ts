import { z } from 'zod';
import { invalidParameter } from '../aws-error.ts';
import type { Replica, Secret } from '../store/secret.ts';
import { changeable, operation, type Realm } from './operation.ts';

export const Replicas = z
  .array(z.object({ Region: z.string(), KmsKeyId: z.string().max(2048).optional() }))
  .min(1)
  .max(40);

export const replicateSecretToRegions = operation(
  z.object({
    SecretId: z.string(),
    AddReplicaRegions: Replicas,
    ForceOverwriteReplicaSecret: z.boolean().default(false),
  }),
  (realm, input) => {
    const secret = changeable(realm, input.SecretId);
    replicate(realm, secret, input.AddReplicaRegions, input.ForceOverwriteReplicaSecret);
    return { ARN: secret.arn, ReplicationStatus: replicationStatus(secret, realm, input.AddReplicaRegions) };
  },
);

export const removeRegionsFromReplication = operation(
  z.object({ SecretId: z.string(), RemoveReplicaRegions: z.array(z.string()).min(1).max(40) }),
  (realm, input) => {
    const secret = changeable(realm, input.SecretId);
    for (const region of input.RemoveReplicaRegions) removeReplica(realm, secret, region);
    realm.shelf.save(secret);
    return { ARN: secret.arn, ReplicationStatus: replicationStatus(secret, realm) };
  },
);

/** Mirrors a secret into further regions. A region with a secret of that name of its own fails, unless overwritten. */
export function replicate(
  realm: Realm,
  secret: Secret,
  regions: z.output<typeof Replicas>,
  overwrite: boolean,
): void {
  for (const { Region: region, KmsKeyId: kmsKeyId } of regions) {
    if (region === realm.shelf.region)
      throw invalidParameter("A replica can't be in the region of its primary secret.");
    const outcome = placeReplica(realm, secret, region, kmsKeyId, overwrite);
    const replica = { ...outcome, settlesAtMs: realm.nowMs + realm.replicationMs };
    secret.replicas = [...secret.replicas.filter((other) => other.region !== region), replica];
  }
  realm.shelf.save(secret);
}

/** How each replica fares. Of those that were `begun` by this very call, only that they are in progress. */
export function replicationStatus(
  secret: Secret,
  { nowMs }: Pick<Realm, 'nowMs'>,
  begun: z.output<typeof Replicas> = [],
): object[] {
  const justBegun = new Set(begun.map(({ Region }) => Region));
  return secret.replicas.map(({ region, kmsKeyId, status, statusMessage, settlesAtMs = 0 }) =>
    justBegun.has(region) || nowMs < settlesAtMs
      ? { Region: region, KmsKeyId: kmsKeyId, Status: 'InProgress' }
      : { Region: region, KmsKeyId: kmsKeyId, Status: status, StatusMessage: statusMessage },
  );
}

function placeReplica(
  realm: Realm,
  secret: Secret,
  region: string,
  kmsKeyId: string | undefined,
  overwrite: boolean,
): Replica {
  const shelf = realm.shelves.of(realm.shelf.account, region);
  const present = shelf.named(secret.name);
  const isOurs = present?.primaryRegion === realm.shelf.region;
  if (present && !isOurs && !overwrite) {
    const statusMessage = 'Replication failed: Secret name already exists in this region.';
    return { region, kmsKeyId, status: 'Failed', statusMessage };
  }
  if (present) shelf.drop(present);
  shelf.save({
    name: secret.name,
    arn: secret.arn.replace(`:${realm.shelf.region}:`, `:${region}:`),
    kmsKeyId,
    tags: new Map(),
    stages: new Map(),
    versions: new Map(),
    replicas: [],
    primaryRegion: realm.shelf.region,
    position: shelf.nextPosition(),
    createdAtMs: realm.nowMs,
    changedAtMs: realm.nowMs,
  });
  return { region, kmsKeyId, status: 'InSync' };
}

function removeReplica(realm: Realm, secret: Secret, region: string): void {
  const replica = secret.replicas.find((other) => other.region === region);
  if (!replica) throw invalidParameter(`The secret has no replica in ${region}.`);
  secret.replicas = secret.replicas.filter((other) => other !== replica);
  const shelf = realm.shelves.of(realm.shelf.account, region);
  const mirrored = shelf.named(secret.name);
  if (mirrored?.primaryRegion === realm.shelf.region) shelf.drop(mirrored);
}
