import { z } from 'zod';
import { invalidParameter, invalidRequest } from '../aws-error.ts';
import type { Secret } from '../store/secret.ts';
import { operation, type Realm, wireDate } from './operation.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const DEFAULT_WINDOW_DAYS = 30;

const Input = z.object({
  SecretId: z.string(),
  RecoveryWindowInDays: z.int().optional(),
  ForceDeleteWithoutRecovery: z.boolean().default(false),
});

/** The answer's `DeletionDate` is when the secret ceases to exist; a description's `DeletedDate` is when that was asked. */
export const deleteSecret = operation(Input, (realm, input) => {
  mustAgree(input);
  if (input.ForceDeleteWithoutRecovery) return deleteForGood(realm, input.SecretId);
  const secret = realm.shelf.find(input.SecretId);
  mustHaveNoReplicas(secret);
  if (secret.deletedAtMs !== undefined) {
    throw invalidRequest("You tried to perform the operation on a secret that's currently marked deleted.");
  }
  secret.deletedAtMs = realm.nowMs;
  secret.purgeAtMs = realm.nowMs + (input.RecoveryWindowInDays ?? DEFAULT_WINDOW_DAYS) * DAY_MS;
  realm.shelf.save(secret);
  return { ARN: secret.arn, Name: secret.name, DeletionDate: wireDate(secret.purgeAtMs) };
});

export const restoreSecret = operation(z.object({ SecretId: z.string() }), (realm, input) => {
  const secret = realm.shelf.find(input.SecretId);
  secret.deletedAtMs = undefined;
  secret.purgeAtMs = undefined;
  realm.shelf.save(secret);
  return { ARN: secret.arn, Name: secret.name };
});

function mustAgree({
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

/** Without recovery, what is absent is deleted already: the real service answers so for the sake of retries. */
function deleteForGood(realm: Realm, secretId: string): object {
  const secret = presentOrUndefined(realm, secretId);
  if (!secret) return { Name: secretId, DeletionDate: wireDate(realm.nowMs) };
  mustHaveNoReplicas(secret);
  secret.deletedAtMs = realm.nowMs;
  secret.purgeAtMs = realm.nowMs + realm.forcedDeleteMs;
  secret.forced = true;
  realm.shelf.save(secret);
  return { ARN: secret.arn, Name: secret.name, DeletionDate: wireDate(realm.nowMs) };
}

function presentOrUndefined(realm: Realm, secretId: string): Secret | undefined {
  try {
    return realm.shelf.find(secretId);
  } catch {
    return undefined;
  }
}

function mustHaveNoReplicas(secret: Secret): void {
  if (secret.primaryRegion !== undefined) {
    throw invalidRequest(
      "Operation not permitted on a replica secret. Call must be made in primary secret's region.",
    );
  }
  if (secret.replicas.length === 0) return;
  const regions = secret.replicas.map(({ region }) => region).join(', ');
  throw invalidRequest(`You can't delete secret ${secret.name} that still has replica regions [${regions}].`);
}
