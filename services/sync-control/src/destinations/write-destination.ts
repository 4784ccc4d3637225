import { createHash, randomUUID } from 'node:crypto';
import { type Caller, requireGrant } from '@secrets/caller';
import { isForeignKeyViolation, isUniqueViolation, type Tx } from '@secrets/db';
import { type DestinationDescription, parseDestination } from '@secrets/destinations';
import { notFound, Problem } from '@secrets/domain';
import { ensureLane, liftPause } from '@secrets/sync-entries';
import type { Context } from '../context.ts';
import {
  type DestinationKey,
  insertDestination,
  lockDestination,
  updateDestination,
} from '../queries/destinations.ts';
import { retryAllFailed } from './retry-failed.ts';
import { decryptCredentials, encryptCredentials } from './stored-credentials.ts';

/** A create or an update of a destination. */
export interface DestinationWrite {
  name: string;
  body: Record<string, unknown>;
  /** A PATCH: `not_found` for a destination that does not exist. */
  mustExist: boolean;
}

/**
 * Creates or updates a destination (docs/conventions.md#52-destinations). An update keeps the fields that it omits, and
 * retries the entries that wait for the operator. Returns warnings. Problems: `invalid` fields; `not_found` for an
 * update with `mustExist`; `forbidden` for a create or an update that is not granted.
 */
export async function writeDestination(
  context: Pick<Context, 'db' | 'keyRing' | 'prefix'>,
  caller: Caller,
  description: DestinationDescription,
  write: DestinationWrite,
): Promise<readonly string[]> {
  const key = { namespaceId: caller.namespace.id, type: description.type, name: write.name };
  return context.db
    .transaction((tx) => writeLocked(tx, context, caller, { ...write, description, key }))
    .catch((error: unknown) => rethrowConflict(error, key));
}

/** The lane of the account that a destination's settings and credentials identify. */
function laneOf(
  tx: Tx,
  { type, account }: DestinationDescription,
  { settings, credentials }: ReturnType<typeof parseDestination>,
): Promise<string> {
  const parts = JSON.stringify(account(settings, credentials));
  return ensureLane(tx, type, createHash('sha256').update(parts).digest('base64url'));
}

async function writeLocked(
  tx: Tx,
  { keyRing, prefix }: Pick<Context, 'keyRing' | 'prefix'>,
  caller: Caller,
  write: DestinationWrite & { description: DestinationDescription; key: DestinationKey },
): Promise<readonly string[]> {
  const { key, name, body, mustExist } = write;
  const row = await lockDestination(tx, key);
  if (row === undefined && mustExist) throw notFound();
  if (!mustExist) requireGrant(caller, row !== undefined); // of a PATCH, the gateway has checked `patch`
  const existing = row && { settings: row.settings, credentials: decryptCredentials(keyRing, row) };
  const parsed = parseDestination(write.description, { name, body, prefix, existing });
  const { settings } = parsed;
  const id = row?.id ?? randomUUID();
  const sealedCredentials = encryptCredentials(keyRing, id, parsed.credentials);
  const laneId = await laneOf(tx, write.description, parsed);
  if (row === undefined) {
    const namespacePath = caller.namespace.path;
    await insertDestination(tx, { ...key, id, namespacePath, settings, sealedCredentials, laneId });
  } else {
    await updateDestination(tx, { id, settings, sealedCredentials, laneId });
    await liftPause(tx, id);
    await retryAllFailed(tx, id);
  }
  return parsed.warnings;
}

function rethrowConflict(error: unknown, { type, name }: DestinationKey): never {
  if (isUniqueViolation(error)) {
    const sentence = `destination ${type}/${name} was being created at the same moment; try again`;
    throw new Problem('conflict', sentence);
  }
  throw isForeignKeyViolation(error) ? notFound() : error; // the namespace was deleted in the meantime
}
