import { randomUUID } from 'node:crypto';
import type { Caller, Capability } from '@secrets/caller';
import { isForeignKeyViolation, isUniqueViolation } from '@secrets/db';
import { type DestinationDescription, parseDestination } from '@secrets/destinations';
import { credentialsAad, notFound, Problem, permissionDenied } from '@secrets/domain';
import { decrypt, encrypt, type KeyRing } from '@secrets/seal';
import { retryFailed } from '@secrets/sync-entries';
import type { Context } from './context.ts';
import {
  type DestinationKey,
  type DestinationRow,
  insertDestination,
  lockDestination,
  updateDestination,
} from './queries/destinations.ts';

/** What a write needs of the caller's grants: a PATCH `patch`, which the gateway has seen to, others by what is there. */
function assertGranted({ grants }: Caller, mustExist: boolean, exists: boolean): void {
  const needed: Capability = exists ? 'update' : 'create';
  if (!mustExist && !grants.includes(needed)) throw permissionDenied();
}

/** A destination's secret fields in the clear, for as long as a write takes. */
type Credentials = Record<string, string>;

/**
 * Creates a destination, or updates it: an update keeps what it omits, and what failed for good in it is tried again.
 * Gives warnings. Problems: `invalid` fields,
 * `not_found` when `mustExist` and it does not, `forbidden` for a create or an update that is not granted.
 */
export async function writeDestination(
  context: Pick<Context, 'db' | 'keyRing' | 'prefix'>,
  caller: Caller,
  description: DestinationDescription,
  { name, body, mustExist }: { name: string; body: Record<string, unknown>; mustExist: boolean },
): Promise<readonly string[]> {
  const key = { namespaceId: caller.namespace.id, type: description.type, name };
  return context.db
    .transaction(async (tx) => {
      const existing = await lockDestination(tx, key);
      if (existing === undefined && mustExist) throw new Problem('not_found');
      assertGranted(caller, mustExist, existing !== undefined);
      const parsed = parseDestination(description, {
        name,
        body,
        prefix: context.prefix,
        existing: existing && decryptDestination(context.keyRing, existing),
      });
      const id = existing?.id ?? randomUUID();
      const sealed = sealCredentials(context.keyRing, id, parsed.credentials);
      if (existing === undefined) {
        await insertDestination(tx, {
          ...key,
          id,
          namespacePath: caller.namespace.path,
          settings: parsed.settings,
          sealedCredentials: sealed,
        });
      } else {
        await updateDestination(tx, id, parsed.settings, sealed);
        await retryFailed(tx, id);
      }
      return parsed.warnings;
    })
    .catch((error: unknown) => rethrowConflict(error, key));
}

/** Fields as the description parses them, the secret ones opened. */
export function decryptDestination(
  keyRing: KeyRing,
  row: DestinationRow,
): { settings: DestinationRow['settings']; credentials: Credentials } {
  const credentials: Credentials =
    row.sealedCredentials === null
      ? {}
      : JSON.parse(decrypt(keyRing, credentialsAad(row.id), row.sealedCredentials).toString('utf8'));
  return { settings: row.settings, credentials };
}

const sealCredentials = (keyRing: KeyRing, id: string, credentials: Credentials): Buffer | null =>
  Object.keys(credentials).length === 0
    ? null
    : encrypt(keyRing, credentialsAad(id), Buffer.from(JSON.stringify(credentials)));

function rethrowConflict(error: unknown, { type, name }: DestinationKey): never {
  if (isUniqueViolation(error))
    throw new Problem(
      'conflict',
      `destination ${type}/${name} was being created at the same moment; try again`,
    );
  throw isForeignKeyViolation(error) ? notFound() : error; // the namespace was deleted meanwhile
}
