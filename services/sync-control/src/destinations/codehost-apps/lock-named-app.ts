import type { Tx } from '@secrets/db';
import type { DestinationDescription } from '@secrets/destinations';
import { invalid, type Json } from '@secrets/domain';
import { type CodehostAppRow, lockCodehostApp } from '../../queries/destinations/codehost-apps.ts';
import { serverName } from './server-name.ts';

/**
 * Returns the ID of the application that a destination's settings name, which is not deleted before the transaction ends; null if
 * they name none. Throws `invalid` if the namespace has no such application, or if it is for another server than the destination:
 * that server would receive a signature with which it could act as the application.
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
  requireServerOf(app, String(settings.enterprise_url ?? ''));
  return app.id;
}

function requireServerOf({ name, enterpriseUrl }: CodehostAppRow, given: string): void {
  if (enterpriseUrl === given) return;
  throw invalid(
    `enterprise_url: this destination is at ${serverName(given)}, and the application ${name} is for ${serverName(enterpriseUrl)}`,
  );
}
