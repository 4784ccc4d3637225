import { randomInt } from 'node:crypto';
import { z } from 'zod';
import { alreadyExists, invalidRequest } from '../aws-error.ts';
import { requireKey } from '../store/encryption-keys.ts';
import type { Secret } from '../store/secret.ts';
import { hasValue, validateName, validateToken, validateValue, withTags } from '../store/secret-limits.ts';
import { addVersion } from '../store/secret-versions.ts';
import { type OperationContext, operation } from './operation.ts';
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

export const createSecret = operation(Input, (context, input) => {
  validateName(input.Name);
  if (input.ClientRequestToken !== undefined) validateToken(input.ClientRequestToken);
  validateValue(input);
  const existing = context.store.get(input.Name);
  if (existing) return repeatedCreation(context, existing, input);
  requireKey(input.KmsKeyId, context.store);
  context.regions.requireCapacity(context.store, { isNewSecret: true });
  return create(context, input);
});

function create(context: OperationContext, input: z.output<typeof Input>): object {
  const secret = newSecret(context, input);
  if (hasValue(input)) {
    const { ClientRequestToken: token } = input;
    const options = { token, nowMs: context.nowMs, limit: context.versionLimit };
    context.store.save(secret, addVersion(secret, input, options).version);
  } else {
    context.store.save(secret);
  }
  if (input.AddReplicaRegions)
    replicate(context, secret, input.AddReplicaRegions, input.ForceOverwriteReplicaSecret);
  return creationResponse(context, secret, { started: input.AddReplicaRegions });
}

/** A secret without a version, as it is created in the region of `store`. */
export function newSecret(
  { store, nowMs }: Pick<OperationContext, 'store' | 'nowMs'>,
  input: Pick<z.output<typeof Input>, 'Name'> & Partial<z.output<typeof Input>>,
): Secret {
  return {
    name: input.Name,
    arn: `arn:aws:secretsmanager:${store.region}:${store.account}:secret:${input.Name}-${suffix()}`,
    description: input.Description,
    kmsKeyId: input.KmsKeyId || undefined,
    tags: withTags(new Map(), input.Tags ?? []),
    stages: new Map(),
    versions: new Map(),
    replicas: [],
    position: store.nextPosition(),
    createdAtMs: nowMs,
    changedAtMs: nowMs,
  };
}

/** Repeating a creation with the same token and value succeeds and changes nothing. */
function repeatedCreation(
  context: OperationContext,
  existing: Secret,
  input: z.output<typeof Input>,
): object {
  if (existing.deletedAtMs !== undefined) {
    throw invalidRequest(
      "You can't create this secret because a secret with this name is already scheduled for deletion.",
    );
  }
  const version = existing.versions.get(input.ClientRequestToken ?? '');
  const isSame = version && version.text === input.SecretString && version.binary === input.SecretBinary;
  if (!isSame) throw alreadyExists(`The operation failed because the secret ${input.Name} already exists.`);
  return creationResponse(context, existing, { versionId: version.id });
}

function creationResponse(
  context: OperationContext,
  secret: Secret,
  {
    versionId = secret.stages.get('AWSCURRENT'),
    started,
  }: { versionId?: string; started?: z.output<typeof Replicas> | undefined },
): object {
  const ReplicationStatus =
    secret.replicas.length > 0 ? replicationStatus(secret, context, started) : undefined;
  return { ARN: secret.arn, Name: secret.name, VersionId: versionId, ReplicationStatus };
}

function suffix(): string {
  return Array.from({ length: 6 }, () => LETTERS[randomInt(LETTERS.length)]).join('');
}
