import type { Tx } from '@secrets/db';
import type { DestinationDescription } from '@secrets/destinations';
import { invalid, type Json } from '@secrets/domain';
import { lockCodehostApp } from '../queries/codehost-apps.ts';

/**
 * Returns the ID of the application that a destination's settings name, which is not deleted before the transaction ends; null if
 * they name none. Throws `invalid` if the namespace has no such application.
 */
export async function lockNamedApp(
  tx: Tx,
  { appField }: Pick<DestinationDescription, 'appField'>,
  { namespaceId, settings }: { namespaceId: string; settings: Readonly<Record<string, Json>> },
): Promise<string | null> {
  const name = appField === undefined ? undefined : settings[appField];
  if (typeof name !== 'string' || name === '') return null;
  const app = await lockCodehostApp(tx, { namespaceId, name }, 'key share');
  if (app === undefined)
    throw invalid(`${appField}: this namespace has no code-host application of that name`);
  return app.id;
}
