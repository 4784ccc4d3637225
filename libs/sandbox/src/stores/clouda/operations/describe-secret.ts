import { z } from 'zod';
import type { Secret } from '../store/secret.ts';
import { stagesOf } from '../store/secret-versions.ts';
import { operation, type Realm, source, wireDate, wireTags } from './operation.ts';
import { replicationStatus } from './replicate-secret.ts';

/** Answers for a secret that is scheduled for deletion too, with its `DeletedDate`. */
export const describeSecret = operation(z.object({ SecretId: z.string() }), (realm, input) => {
  const secret = realm.shelf.find(input.SecretId);
  const held = source(realm, secret);
  return {
    ...overview(realm, secret),
    VersionIdsToStages: labelledVersions(held),
    ReplicationStatus: held.replicas.length > 0 ? replicationStatus(held, realm) : undefined,
  };
});

/** What a description and an entry of a list have in common. */
export function overview(realm: Realm, secret: Secret): object {
  const held = source(realm, secret);
  return {
    ARN: secret.arn,
    Name: secret.name,
    Description: held.description,
    KmsKeyId: secret.kmsKeyId,
    Tags: wireTags(held.tags),
    CreatedDate: wireDate(secret.createdAtMs),
    LastChangedDate: wireDate(held.changedAtMs),
    DeletedDate: secret.deletedAtMs === undefined ? undefined : wireDate(secret.deletedAtMs),
    PrimaryRegion: secret.primaryRegion ?? (secret.replicas.length > 0 ? realm.shelf.region : undefined),
  };
}

/** Version id to its labels; versions without one are left out, as in the real service. */
export function labelledVersions(secret: Secret): Record<string, string[]> {
  return Object.fromEntries([...new Set(secret.stages.values())].map((id) => [id, stagesOf(secret, id)]));
}
