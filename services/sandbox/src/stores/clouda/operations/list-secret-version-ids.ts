import { z } from 'zod';
import { stagesOf } from '../store/secret-versions.ts';
import { operation, primaryOf, wireDate } from './operation.ts';

const Input = z.object({ SecretId: z.string(), IncludeDeprecated: z.boolean().default(false) });

/** Returns all versions in one page: there are never more than about a hundred. */
export const listSecretVersionIds = operation(Input, (context, input) => {
  const secret = context.store.find(input.SecretId);
  const primary = primaryOf(context, secret);
  const versions = [...primary.versions.values()].map(({ id, createdAtMs }) => ({
    VersionId: id,
    VersionStages: stagesOf(primary, id),
    CreatedDate: wireDate(createdAtMs),
  }));
  const isShown = (version: { VersionStages: string[] }) =>
    input.IncludeDeprecated || version.VersionStages.length > 0;
  return { ARN: secret.arn, Name: secret.name, Versions: versions.filter(isShown) };
});
