import { z } from 'zod';
import { stagesOf } from '../store/secret-versions.ts';
import { operation, source, wireDate } from './operation.ts';

const Input = z.object({ SecretId: z.string(), IncludeDeprecated: z.boolean().default(false) });

/** All versions in one page: there are never more than about a hundred. */
export const listSecretVersionIds = operation(Input, (realm, input) => {
  const secret = realm.shelf.find(input.SecretId);
  const held = source(realm, secret);
  const versions = [...held.versions.values()].map(({ id, createdAtMs }) => ({
    VersionId: id,
    VersionStages: stagesOf(held, id),
    CreatedDate: wireDate(createdAtMs),
  }));
  const isShown = (version: { VersionStages: string[] }) =>
    input.IncludeDeprecated || version.VersionStages.length > 0;
  return { ARN: secret.arn, Name: secret.name, Versions: versions.filter(isShown) };
});
