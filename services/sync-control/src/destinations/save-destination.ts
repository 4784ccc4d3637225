import { createHash, randomUUID } from 'node:crypto';
import { type Caller, requireGrant } from '@secrets/caller';
import { isForeignKeyViolation, isUniqueViolation, type Tx } from '@secrets/db';
import { type DestinationDescription, findDescription, parseDestination } from '@secrets/destinations';
import { notFound, Problem } from '@secrets/domain';
import { ensureLane, liftPause } from '@secrets/sync-entries';
import { lockNamedApp } from '../codehost-apps/lock-named-app.ts';
import type { Context } from '../context.ts';
import { countAssociations } from '../queries/association-counts.ts';
import { initiatePush } from '../queries/destination-marks.ts';
import {
  type DestinationKey,
  type DestinationRow,
  insertDestination,
  lockDestination,
  updateDestination,
} from '../queries/destinations.ts';
import { isPushNeeded } from './push-again.ts';
import { type DestinationRef, destinationKey } from './require-destination.ts';
import { retryFailedEntries } from './retry-failed.ts';
import { decryptCredentials, encryptCredentials } from './stored-credentials.ts';

/** A create or an update of a destination. */
export interface DestinationWrite {
  body: Record<string, unknown>;
  /** A PATCH: `not_found` for a destination that does not exist. */
  mustExist: boolean;
}

/**
 * Creates or updates a destination (docs/conventions.md#52-destinations). An update keeps the fields that it omits, retries
 * the entries that wait for the operator, and pushes changed tags and similar settings to the others, in the background.
 * Returns warnings. Throws `invalid` if the type does not exist or a field is refused, `not_found` if the destination must
 * exist and does not, `forbidden` if a create or an update is not granted, `conflict` if another request is creating it.
 */
export async function saveDestination(
  context: Pick<Context, 'db' | 'keyRing' | 'prefix'>,
  caller: Caller,
  ref: DestinationRef,
  write: DestinationWrite,
): Promise<readonly string[]> {
  const description = findDescription(ref.type);
  const key = destinationKey(caller, ref);
  return context.db
    .transaction((tx) => saveLocked(tx, context, caller, { ...write, description, key }))
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

async function saveLocked(
  tx: Tx,
  { keyRing, prefix }: Pick<Context, 'keyRing' | 'prefix'>,
  caller: Caller,
  write: DestinationWrite & { description: DestinationDescription; key: DestinationKey },
): Promise<readonly string[]> {
  const { key, body, mustExist } = write;
  const row = await lockDestination(tx, key);
  if (row === undefined && mustExist) throw notFound();
  if (!mustExist) requireGrant(caller, row !== undefined); // of a PATCH, the gateway has checked `patch`
  const existing = row && { settings: row.settings, credentials: decryptCredentials(keyRing, row) };
  const parsed = parseDestination(write.description, { name: key.name, body, prefix, existing });
  const { settings } = parsed;
  const id = row?.id ?? randomUUID();
  const sealedCredentials = encryptCredentials(keyRing, id, parsed.credentials);
  const codehostAppId = await lockNamedApp(tx, write.description, { namespaceId: key.namespaceId, settings });
  const laneId = await laneOf(tx, write.description, parsed);
  if (row === undefined) {
    const namespacePath = caller.namespace.path;
    const content = { settings, sealedCredentials, codehostAppId, laneId };
    await insertDestination(tx, { ...key, id, namespacePath, ...content });
  } else {
    await updateDestination(tx, { id, settings, sealedCredentials, codehostAppId, laneId });
    await liftPause(tx, id, { isChanged: true });
    await retryFailedEntries(tx, id, { all: false });
    if (row.purgeInitiatedAt === null && isPushNeeded(write.description, row.settings, settings))
      await initiatePush(tx, id);
    if (await isReplanNeeded(tx, row, settings)) return [...parsed.warnings, replanWarning(key)];
  }
  return parsed.warnings;
}

/** Whether a changed template or granularity leaves associations as they are. */
const isReplanNeeded = async (
  tx: Tx,
  { id, settings: before }: DestinationRow,
  after: DestinationRow['settings'],
): Promise<boolean> =>
  namingFields.some((field) => before[field] !== after[field]) && (await countAssociations(tx, id, 1)) > 0;

const namingFields = ['secret_name_template', 'granularity'];

const replanWarning = ({ type, name }: DestinationKey): string =>
  `existing associations keep their external names until they are set again: POST sys/sync/destinations/${type}/${name}/replan does this for all of them`;

function rethrowConflict(error: unknown, { type, name }: DestinationKey): never {
  if (isUniqueViolation(error)) {
    const sentence = `destination ${type}/${name} was being created at the same moment; try again`;
    throw new Problem('conflict', sentence);
  }
  throw isForeignKeyViolation(error) ? notFound() : error; // the namespace was deleted in the meantime
}
