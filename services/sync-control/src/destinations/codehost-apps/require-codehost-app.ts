import type { Caller } from '@secrets/caller';
import { requireFound } from '@secrets/domain';
import type { Context } from '../../context.ts';
import {
  type CodehostAppKey,
  type CodehostAppRow,
  findCodehostApp,
} from '../../queries/destinations/codehost-apps.ts';

/** Returns the key of an application of the caller's namespace. */
export const codehostAppKey = ({ namespace }: Caller, name: string): CodehostAppKey => ({
  namespaceId: namespace.id,
  name,
});

/** Returns an application of the caller's namespace. Throws `not_found` if it does not exist. */
export async function requireCodehostApp(
  { db }: Pick<Context, 'db'>,
  caller: Caller,
  name: string,
): Promise<CodehostAppRow> {
  return requireFound(await findCodehostApp(db, codehostAppKey(caller, name)));
}
