import { z } from 'zod';
import { AwsError, invalidParameter } from '../aws-error.ts';
import { requireKey } from '../store/encryption-keys.ts';
import type { RegionStore } from '../store/region-store.ts';
import { regionNames } from '../store/regions.ts';
import type { Replica, Secret } from '../store/secret.ts';
import { type OperationContext, operation, writableSecret } from './operation.ts';

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
  (context, input) => {
    const secret = writableSecret(context, input.SecretId);
    replicate(context, secret, input.AddReplicaRegions, input.ForceOverwriteReplicaSecret);
    return {
      ARN: secret.arn,
      ReplicationStatus: replicationStatus(secret, context, input.AddReplicaRegions),
    };
  },
);

export const removeRegionsFromReplication = operation(
  z.object({ SecretId: z.string(), RemoveReplicaRegions: z.array(z.string()).min(1).max(40) }),
  (context, input) => {
    const secret = writableSecret(context, input.SecretId);
    for (const region of input.RemoveReplicaRegions) removeReplica(context, secret, region);
    context.store.save(secret);
    return { ARN: secret.arn, ReplicationStatus: replicationStatus(secret, context) };
  },
);

/**
 * Replicates a secret to further regions. Fails in a region that has its own secret with this name, unless `overwrite`
 * is set.
 */
export function replicate(
  context: OperationContext,
  secret: Secret,
  regions: z.output<typeof Replicas>,
  overwrite: boolean,
): void {
  for (const { Region: region, KmsKeyId: kmsKeyId } of regions) {
    if (region === context.store.region)
      throw invalidParameter("A replica can't be in the region of its primary secret.");
    if (!regionNames.has(region)) throw invalidParameter(`Invalid replica region: ${region}`);
    const outcome = createReplica(context, secret, region, kmsKeyId, overwrite);
    const replica = { ...outcome, settlesAtMs: context.nowMs + context.replicationMs };
    secret.replicas = [...secret.replicas.filter((other) => other.region !== region), replica];
  }
  context.store.save(secret);
}

/** The status of each replica. Replicas `started` by the current call are always in progress. */
export function replicationStatus(
  secret: Secret,
  { nowMs }: Pick<OperationContext, 'nowMs'>,
  started: z.output<typeof Replicas> = [],
): object[] {
  const startedRegions = new Set(started.map(({ Region }) => Region));
  return secret.replicas.map(({ region, kmsKeyId, status, statusMessage, settlesAtMs = 0 }) =>
    startedRegions.has(region) || nowMs < settlesAtMs
      ? { Region: region, KmsKeyId: kmsKeyId, Status: 'InProgress' }
      : { Region: region, KmsKeyId: kmsKeyId, Status: status, StatusMessage: statusMessage },
  );
}

function createReplica(
  context: OperationContext,
  secret: Secret,
  region: string,
  kmsKeyId: string | undefined,
  overwrite: boolean,
): Replica {
  const target = context.regions.of(context.store.account, region);
  const refusal = keyRefusal(kmsKeyId, target);
  if (refusal !== undefined)
    return { region, kmsKeyId, status: 'Failed', statusMessage: `Replication failed: ${refusal}` };
  const existing = target.get(secret.name);
  const isReplica = existing?.primaryRegion === context.store.region;
  if (existing && !isReplica && !overwrite) {
    const statusMessage = 'Replication failed: Secret name already exists in this region.';
    return { region, kmsKeyId, status: 'Failed', statusMessage };
  }
  if (existing) target.purge(existing);
  target.save({
    name: secret.name,
    arn: secret.arn.replace(`:${context.store.region}:`, `:${region}:`),
    kmsKeyId,
    tags: new Map(),
    stages: new Map(),
    versions: new Map(),
    replicas: [],
    primaryRegion: context.store.region,
    position: target.nextPosition(),
    createdAtMs: context.nowMs,
    changedAtMs: context.nowMs,
  });
  return { region, kmsKeyId, status: 'InSync' };
}

/** The call succeeds, and the replication fails. */
function keyRefusal(key: string | undefined, target: RegionStore): string | undefined {
  try {
    requireKey(key, target);
    return undefined;
  } catch (error) {
    if (error instanceof AwsError) return error.message;
    throw error;
  }
}

function removeReplica(context: OperationContext, secret: Secret, region: string): void {
  const replica = secret.replicas.find((other) => other.region === region);
  if (!replica) throw invalidParameter(`The secret has no replica in ${region}.`);
  secret.replicas = secret.replicas.filter((other) => other !== replica);
  const target = context.regions.of(context.store.account, region);
  const replicated = target.get(secret.name);
  if (replicated?.primaryRegion === context.store.region) target.purge(replicated);
}
