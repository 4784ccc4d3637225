import { z } from 'zod';
import { invalidParameter, invalidRequest } from '../aws-error.ts';
import type { Secret } from '../store/secret.ts';
import { type OperationContext, operation, wireDate } from './operation.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const DEFAULT_WINDOW_DAYS = 30;
/** The default recovery window. */
export const defaultWindowMs = DEFAULT_WINDOW_DAYS * DAY_MS;

const Input = z.object({
  SecretId: z.string(),
  RecoveryWindowInDays: z.int().optional(),
  ForceDeleteWithoutRecovery: z.boolean().default(false),
});

/** The response's `DeletionDate` is when the secret is purged; a description's `DeletedDate` is when deletion was requested. */
export const deleteSecret = operation(Input, (context, input) => {
  validateRecoveryWindow(input);
  if (input.ForceDeleteWithoutRecovery) return deleteWithoutRecovery(context, input.SecretId);
  const secret = context.store.find(input.SecretId);
  requireNoReplicas(secret);
  if (secret.deletedAtMs !== undefined) {
    throw invalidRequest("You tried to perform the operation on a secret that's currently marked deleted.");
  }
  secret.deletedAtMs = context.nowMs;
  secret.purgeAtMs = context.nowMs + (input.RecoveryWindowInDays ?? DEFAULT_WINDOW_DAYS) * DAY_MS;
  context.store.save(secret);
  return { ARN: secret.arn, Name: secret.name, DeletionDate: wireDate(secret.purgeAtMs) };
});

export const restoreSecret = operation(z.object({ SecretId: z.string() }), (context, input) => {
  const secret = context.store.find(input.SecretId);
  secret.deletedAtMs = undefined;
  secret.purgeAtMs = undefined;
  context.store.save(secret);
  return { ARN: secret.arn, Name: secret.name };
});

function validateRecoveryWindow({
  RecoveryWindowInDays: days,
  ForceDeleteWithoutRecovery: forced,
}: z.output<typeof Input>): void {
  if (days !== undefined && (days < 7 || days > 30)) {
    throw invalidParameter('The RecoveryWindowInDays value must be between 7 and 30 days (inclusive).');
  }
  if (days !== undefined && forced) {
    throw invalidParameter(
      "You can't use ForceDeleteWithoutRecovery in conjunction with RecoveryWindowInDays.",
    );
  }
}

/** Succeeds if the secret is absent, as in the real service, so that the request can be retried. */
function deleteWithoutRecovery(context: OperationContext, secretId: string): object {
  const secret = findOrUndefined(context, secretId);
  if (!secret) return { Name: secretId, DeletionDate: wireDate(context.nowMs) };
  requireNoReplicas(secret);
  secret.deletedAtMs = context.nowMs;
  secret.purgeAtMs = context.nowMs + context.forcedDeleteMs;
  secret.forced = true;
  context.store.save(secret);
  return { ARN: secret.arn, Name: secret.name, DeletionDate: wireDate(context.nowMs) };
}

function findOrUndefined(context: OperationContext, secretId: string): Secret | undefined {
  try {
    return context.store.find(secretId);
  } catch {
    return undefined;
  }
}

function requireNoReplicas(secret: Secret): void {
  if (secret.primaryRegion !== undefined) {
    throw invalidRequest(
      "Operation not permitted on a replica secret. Call must be made in primary secret's region.",
    );
  }
  if (secret.replicas.length === 0) return;
  const regions = secret.replicas.map(({ region }) => region).join(', ');
  throw invalidRequest(`You can't delete secret ${secret.name} that still has replica regions [${regions}].`);
}
