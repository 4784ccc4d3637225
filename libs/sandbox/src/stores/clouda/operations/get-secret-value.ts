import { z } from 'zod';
import { notFound } from '../aws-error.ts';
import { stagesOf } from '../store/secret-versions.ts';
import { operation, source, usable, wireDate } from './operation.ts';

const Input = z.object({
  SecretId: z.string(),
  VersionId: z.string().optional(),
  VersionStage: z.string().optional(),
});

export const getSecretValue = operation(Input, (realm, input) => {
  const secret = usable(realm, input.SecretId);
  const held = source(realm, secret);
  const stage = input.VersionStage ?? 'AWSCURRENT';
  const version = held.versions.get(input.VersionId ?? held.stages.get(stage) ?? '');
  const hasStage = version && (input.VersionStage === undefined || held.stages.get(stage) === version.id);
  if (!version || !hasStage) {
    const sought =
      input.VersionId === undefined ? `staging label: ${stage}` : `VersionId: ${input.VersionId}`;
    throw notFound(`Secrets Manager can't find the specified secret value for ${sought}`);
  }
  return {
    ARN: secret.arn,
    Name: secret.name,
    VersionId: version.id,
    SecretString: version.text,
    SecretBinary: version.binary,
    VersionStages: stagesOf(held, version.id),
    CreatedDate: wireDate(version.createdAtMs),
  };
});
