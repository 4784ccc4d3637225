import { z } from 'zod';
import { invalidRequest } from '../aws-error.ts';
import type { Secret, SecretVersion } from '../store/secret.ts';
import { mustBeToken, mustBeValue, type SentValue } from '../store/secret-limits.ts';
import { addVersion, stagesOf } from '../store/secret-versions.ts';
import { changeable, operation, type Realm } from './operation.ts';

const value = {
  SecretId: z.string(),
  ClientRequestToken: z.string().optional(),
  SecretString: z.string().optional(),
  SecretBinary: z.string().optional(),
};

export const putSecretValue = operation(
  z.object({ ...value, VersionStages: z.array(z.string().min(1).max(256)).min(1).max(20).optional() }),
  (realm, input) => {
    mustBeValue(input);
    if (!hasValue(input)) throw invalidRequest('You must provide either SecretString or SecretBinary.');
    const secret = changeable(realm, input.SecretId);
    const version = write(realm, secret, input, input.VersionStages);
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
  (realm, input) => {
    mustBeValue(input);
    const secret = changeable(realm, input.SecretId);
    const version = hasValue(input) ? write(realm, secret, input) : undefined;
    if (input.Description !== undefined) secret.description = input.Description;
    if (input.KmsKeyId !== undefined) secret.kmsKeyId = input.KmsKeyId;
    secret.changedAtMs = realm.nowMs;
    realm.shelf.save(secret);
    return { ARN: secret.arn, Name: secret.name, VersionId: version?.id };
  },
);

function write(
  realm: Realm,
  secret: Secret,
  sent: SentValue & { ClientRequestToken?: string | undefined },
  stages?: string[],
): SecretVersion {
  if (sent.ClientRequestToken !== undefined) mustBeToken(sent.ClientRequestToken);
  realm.shelves.mustHaveRoom(realm.shelf, false);
  const terms = { token: sent.ClientRequestToken, stages, nowMs: realm.nowMs, limit: realm.versionLimit };
  const { version, isNew, dropped } = addVersion(secret, sent, terms);
  if (!isNew) return version;
  secret.changedAtMs = realm.nowMs;
  realm.shelf.save(secret, version, dropped);
  return version;
}

function hasValue({ SecretString, SecretBinary }: SentValue): boolean {
  return SecretString !== undefined || SecretBinary !== undefined;
}
