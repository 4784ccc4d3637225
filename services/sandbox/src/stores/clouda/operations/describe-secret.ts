import { z } from 'zod';
import type { Secret } from '../store/secret.ts';
import { stagesOf } from '../store/secret-versions.ts';
import { type OperationContext, operation, primaryOf, wireDate, wireTags } from './operation.ts';
import { replicationStatus } from './replicate-secret.ts';

/** Also describes a secret that is scheduled for deletion, with its `DeletedDate`. */
export const describeSecret = operation(z.object({ SecretId: z.string() }), (context, input) => {
  const secret = context.store.find(input.SecretId);
  const primary = primaryOf(context, secret);
  return {
    ...secretSummary(context, secret),
    VersionIdsToStages: versionIdsToStages(primary),
    ReplicationStatus: primary.replicas.length > 0 ? replicationStatus(primary, context) : undefined,
  };
});

/** The fields that a description and a list entry have in common. */
export function secretSummary(context: OperationContext, secret: Secret): object {
  const primary = primaryOf(context, secret);
  return {
    ARN: secret.arn,
    Name: secret.name,
    Description: primary.description,
    KmsKeyId: secret.kmsKeyId,
    Tags: wireTags(primary.tags),
    CreatedDate: wireDate(secret.createdAtMs),
    LastChangedDate: wireDate(primary.changedAtMs),
    DeletedDate: secret.deletedAtMs === undefined ? undefined : wireDate(secret.deletedAtMs),
    PrimaryRegion: secret.primaryRegion ?? (secret.replicas.length > 0 ? context.store.region : undefined),
  };
}

/** Version ID to labels. Omits versions without a label, as the real service does. */
export function versionIdsToStages(secret: Secret): Record<string, string[]> {
  return Object.fromEntries([...new Set(secret.stages.values())].map((id) => [id, stagesOf(secret, id)]));
}
