import { z } from 'zod';
import { notFound } from '../aws-error.ts';
import { stagesOf } from '../store/secret-versions.ts';
import { operation, primaryOf, readableSecret, wireDate } from './operation.ts';

const Input = z.object({
  SecretId: z.string(),
  VersionId: z.string().optional(),
  VersionStage: z.string().optional(),
});

export const getSecretValue = operation(Input, (context, input) => {
  const secret = readableSecret(context, input.SecretId);
  const primary = primaryOf(context, secret);
  const stage = input.VersionStage ?? 'AWSCURRENT';
  const version = primary.versions.get(input.VersionId ?? primary.stages.get(stage) ?? '');
  const hasStage = version && (input.VersionStage === undefined || primary.stages.get(stage) === version.id);
  if (!version || !hasStage) {
    const target =
      input.VersionId === undefined ? `staging label: ${stage}` : `VersionId: ${input.VersionId}`;
    throw notFound(`Secrets Manager can't find the specified secret value for ${target}`);
  }
  return {
    ARN: secret.arn,
    Name: secret.name,
    VersionId: version.id,
    SecretString: version.text,
    SecretBinary: version.binary,
    VersionStages: stagesOf(primary, version.id),
    CreatedDate: wireDate(version.createdAtMs),
  };
});
