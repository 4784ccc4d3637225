import type { Sql } from '@secrets/db';
import type { EnvironmentCredentials } from '../provider/credentials/credential-source.ts';
import { isEnteredElsewhere } from '../queries/configs.ts';

/** The application of a mount, and what counts for mounts that name none. */
export interface Application {
  clientId: string;
  environment: EnvironmentCredentials;
}

/**
 * Whether a password of an application that was entered for a mount may be in use elsewhere: by another mount, or as
 * the one of the environment. Which password of the application these use is not compared, as a replica may have
 * another environment.
 */
export async function isUsedElsewhere(
  sql: Sql,
  mountId: string,
  { clientId, environment }: Application,
): Promise<boolean> {
  const own = clientId.toLowerCase();
  const usual = environment.clientId?.toLowerCase() ?? '';
  if (environment.clientSecret && (usual === '' || usual === own)) return true;
  return isEnteredElsewhere(sql, mountId, usual === own ? [own, ''] : [own]); // '' is the application of the environment
}
