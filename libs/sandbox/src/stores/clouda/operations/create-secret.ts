import { randomInt } from 'node:crypto';
import { z } from 'zod';
import { alreadyExists, invalidRequest } from '../aws-error.ts';
import type { Secret } from '../store/secret.ts';
import { mustBeName, mustBeToken, mustBeValue, type SentValue, withTags } from '../store/secret-limits.ts';
import { addVersion } from '../store/secret-versions.ts';
import { operation, type Realm } from './operation.ts';
import { Replicas, replicate, replicationStatus } from './replicate-secret.ts';
import { SentTags } from './tag-resource.ts';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

const Input = z.object({
  Name: z.string(),
  ClientRequestToken: z.string().optional(),
  Description: z.string().max(2048).optional(),
  KmsKeyId: z.string().max(2048).optional(),
  SecretString: z.string().optional(),
  SecretBinary: z.string().optional(),
  Tags: SentTags.default([]),
  AddReplicaRegions: Replicas.optional(),
  ForceOverwriteReplicaSecret: z.boolean().default(false),
});

export const createSecret = operation(Input, (realm, input) => {
  mustBeName(input.Name);
  if (input.ClientRequestToken !== undefined) mustBeToken(input.ClientRequestToken);
  mustBeValue(input);
  const present = realm.shelf.named(input.Name);
  if (present) return existing(realm, present, input);
  realm.shelves.mustHaveRoom(realm.shelf, true);
  return created(realm, input);
});

function created(realm: Realm, input: z.output<typeof Input>): object {
  const secret = blankSecret(realm, input);
  if (hasValue(input)) {
    const terms = { token: input.ClientRequestToken, nowMs: realm.nowMs, limit: realm.versionLimit };
    realm.shelf.save(secret, addVersion(secret, input, terms).version);
  } else {
    realm.shelf.save(secret);
  }
  if (input.AddReplicaRegions)
    replicate(realm, secret, input.AddReplicaRegions, input.ForceOverwriteReplicaSecret);
  return answer(realm, secret, { begun: input.AddReplicaRegions });
}

function blankSecret({ shelf, nowMs }: Realm, input: z.output<typeof Input>): Secret {
  return {
    name: input.Name,
    arn: `arn:aws:secretsmanager:${shelf.region}:${shelf.account}:secret:${input.Name}-${suffix()}`,
    description: input.Description,
    kmsKeyId: input.KmsKeyId,
    tags: withTags(new Map(), input.Tags),
    stages: new Map(),
    versions: new Map(),
    replicas: [],
    position: shelf.nextPosition(),
    createdAtMs: nowMs,
    changedAtMs: nowMs,
  };
}

/** Creating again with the same token and value is the creation that there was. */
function existing(realm: Realm, present: Secret, input: z.output<typeof Input>): object {
  if (present.deletedAtMs !== undefined) {
    throw invalidRequest(
      "You can't create this secret because a secret with this name is already scheduled for deletion.",
    );
  }
  const version = present.versions.get(input.ClientRequestToken ?? '');
  const isSame = version && version.text === input.SecretString && version.binary === input.SecretBinary;
  if (!isSame) throw alreadyExists(`The operation failed because the secret ${input.Name} already exists.`);
  return answer(realm, present, { versionId: version.id });
}

function answer(
  realm: Realm,
  secret: Secret,
  {
    versionId = secret.stages.get('AWSCURRENT'),
    begun,
  }: { versionId?: string; begun?: z.output<typeof Replicas> | undefined },
): object {
  const ReplicationStatus = secret.replicas.length > 0 ? replicationStatus(secret, realm, begun) : undefined;
  return { ARN: secret.arn, Name: secret.name, VersionId: versionId, ReplicationStatus };
}

function hasValue({ SecretString, SecretBinary }: SentValue): boolean {
  return SecretString !== undefined || SecretBinary !== undefined;
}

function suffix(): string {
  return Array.from({ length: 6 }, () => LETTERS[randomInt(LETTERS.length)]).join('');
}
