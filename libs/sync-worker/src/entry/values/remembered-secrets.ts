import type { Sql } from '@secrets/db';
import { destinationTypes } from '@secrets/destinations';
import { readRemembered } from '@secrets/sync-entries';
import type { ExternalSecretName, RememberedSecret } from '../../driver/driver.ts';

const maxSecrets = 2_000;

/** Returns what entries remember of external secrets; see `DriverContext.remembered`. Workers read entries of their type only. */
export async function rememberedSecrets(
  sql: Sql,
  type: string,
  secrets: readonly ExternalSecretName[],
): Promise<RememberedSecret[]> {
  if (secrets.length === 0) return [];
  const keyOf = destinationTypes[type]?.nameRule.collisionKey ?? ((name: string) => name);
  const names = secrets
    .slice(0, maxSecrets)
    .map(({ destinationId, externalName }) => ({ destinationId, collisionKey: keyOf(externalName) }));
  const remotes = new Map(
    (await readRemembered(sql, names)).map(({ destinationId, collisionKey, remote }) => [
      `${destinationId} ${collisionKey}`,
      remote,
    ]),
  );
  return secrets.flatMap((secret) => {
    const remote = remotes.get(`${secret.destinationId} ${keyOf(secret.externalName)}`);
    return remote === undefined ? [] : [{ ...secret, remote }];
  });
}
