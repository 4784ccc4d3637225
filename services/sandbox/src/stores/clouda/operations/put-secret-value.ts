import { z } from 'zod';
import { invalidRequest } from '../aws-error.ts';
import { requireKey } from '../store/encryption-keys.ts';
import type { Secret, SecretVersion } from '../store/secret.ts';
import { hasValue, type SentValue, validateToken, validateValue } from '../store/secret-limits.ts';
import { addVersion, stagesOf } from '../store/secret-versions.ts';
import { type OperationContext, operation, primaryOf, readableSecret, writableSecret } from './operation.ts';

const value = {
  SecretId: z.string(),
  ClientRequestToken: z.string().optional(),
  SecretString: z.string().optional(),
  SecretBinary: z.string().optional(),
};

export const putSecretValue = operation(
  z.object({ ...value, VersionStages: z.array(z.string().min(1).max(256)).min(1).max(20).optional() }),
  (context, input) => {
    validateValue(input);
    if (!hasValue(input)) throw invalidRequest('You must provide either SecretString or SecretBinary.');
    const secret = writableSecret(context, input.SecretId);
    const version = write(context, secret, input, input.VersionStages);
    return {
      ARN: secret.arn,
      Name: secret.name,
      VersionId: version.id,
      VersionStages: stagesOf(secret, version.id),
    };
  },
);

export const updateSecret = operation(
  z.object({
    ...value,
    Description: z.string().max(2048).optional(),
    KmsKeyId: z.string().max(2048).optional(),
  }),
  (context, input) => {
    validateValue(input);
    requireKey(input.KmsKeyId, context.store);
    const isOnlyKey = !hasValue(input) && input.Description === undefined;
    const secret = (isOnlyKey ? readableSecret : writableSecret)(context, input.SecretId);
    const version = hasValue(input) ? write(context, secret, input) : undefined;
    if (input.Description !== undefined) secret.description = input.Description;
    if (input.KmsKeyId !== undefined) changeKey(context, secret, input.KmsKeyId);
    secret.changedAtMs = context.nowMs;
    context.store.save(secret);
    return { ARN: secret.arn, Name: secret.name, VersionId: version?.id };
  },
);

/**
 * An empty key is the provider's own (https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_UpdateSecret.html). It is
 * the only part of a replica that can be changed
 * (https://docs.aws.amazon.com/secretsmanager/latest/userguide/standalone-secret.html).
 */
function changeKey(context: OperationContext, secret: Secret, key: string): void {
  secret.kmsKeyId = key || undefined;
  if (secret.primaryRegion === undefined) return;
  const primary = primaryOf(context, secret);
  const replica = primary.replicas.find(({ region }) => region === context.store.region);
  if (replica) replica.kmsKeyId = key || undefined;
  context.regions.of(context.store.account, secret.primaryRegion).save(primary);
}

function write(
  context: OperationContext,
  secret: Secret,
  sent: SentValue & { ClientRequestToken?: string | undefined },
  stages?: string[],
): SecretVersion {
  if (sent.ClientRequestToken !== undefined) validateToken(sent.ClientRequestToken);
  context.regions.requireCapacity(context.store, { isNewSecret: false });
  const { version, isNew, dropped } = addVersion(secret, sent, {
    token: sent.ClientRequestToken,
    stages,
    nowMs: context.nowMs,
    limit: context.versionLimit,
  });
  if (!isNew) return version;
  secret.changedAtMs = context.nowMs;
  context.store.save(secret, version, dropped);
  return version;
}
