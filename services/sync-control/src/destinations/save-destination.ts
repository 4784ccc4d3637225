import { createHash, randomUUID } from 'node:crypto';
import { type Caller, requireGrant } from '@secrets/caller';
import { rethrowViolation, type Tx } from '@secrets/db';
import { type DestinationDescription, findDescription, parseDestination } from '@secrets/destinations';
import { notFound } from '@secrets/domain';
import { ensureLane, liftPause } from '@secrets/sync-entries';
import type { Context } from '../context.ts';
import { countAssociations } from '../queries/associations/association-counts.ts';
import { initiatePush } from '../queries/destinations/destination-marks.ts';
import {
  type DestinationKey,
  type DestinationRow,
  insertDestination,
  lockDestination,
  updateDestination,
} from '../queries/destinations/destinations.ts';
import { isPushNeeded } from './background/push-again.ts';
import { requireInUse } from './background/require-no-purge.ts';
import { retryFailedEntries } from './background/retry-failed.ts';
import { lockNamedApp } from './codehost-apps/lock-named-app.ts';
import { type DestinationRef, destinationKey } from './require-destination.ts';
import { decryptCredentials, encryptCredentials } from './stored-credentials.ts';

/** A create or an update of a destination. */
export interface DestinationWrite {
  body: Record<string, unknown>;
  /**
   * Whether omitted settings keep their values, and a destination that does not exist is `not_found`. Otherwise, they
   * are reset.
   */
  isPatch: boolean;
}

/**
 * Creates or updates a destination (docs/conventions/sync.md#destinations). An update keeps the credentials that it
 * omits, and if it is a patch, also the other fields. It retries the entries that wait for the operator, and pushes
 * changed tags and similar settings to the others, in the background. Ends a purge that has failed. Returns warnings.
 * Throws `invalid` if the type does not exist or a field is refused, `not_found` if the destination must exist and does
 * not, `forbidden` if a create or an update is not granted, `conflict` if another request is creating it, it is being
 * purged, or its row was changed by something else.
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
    .catch(
      rethrowViolation(`destination ${key.type}/${key.name} was being created at the same moment; try again`),
    );
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
  const { key, body, isPatch } = write;
  const row = await lockDestination(tx, key);
  if (row === undefined && isPatch) throw notFound();
  if (!isPatch) requireGrant(caller, row !== undefined); // of a PATCH, the gateway has checked `patch`
  const hasEndedPurge = row !== undefined && (await requireInUse(tx, row));
  const existing = row && {
    settings: row.settings,
    given: row.given,
    credentials: decryptCredentials(keyRing, row),
  };
  const parsed = parseDestination(write.description, { name: key.name, body, prefix, existing, isPatch });
  const { settings, given } = parsed;
  const id = row?.id ?? randomUUID();
  const sealedCredentials = encryptCredentials(keyRing, { id, type: key.type, settings }, parsed.credentials);
  const codehostAppId = await lockNamedApp(tx, write.description, { namespaceId: key.namespaceId, settings });
  const laneId = await laneOf(tx, write.description, parsed);
  if (row === undefined) {
    const namespacePath = caller.namespace.path;
    const content = { settings, given, sealedCredentials, codehostAppId, laneId };
    await insertDestination(tx, { ...key, id, namespacePath, ...content });
  } else {
    await updateDestination(tx, { id, settings, given, sealedCredentials, codehostAppId, laneId });
    await liftPause(tx, id, { isChanged: true });
    await retryFailedEntries(tx, id, { all: false });
    if (isPushNeeded(write.description, row.settings, settings)) await initiatePush(tx, id);
  }
  const isReplanned = row !== undefined && (await isReplanNeeded(tx, row, settings));
  return [
    ...parsed.warnings,
    ...(hasEndedPurge ? [endedPurge] : []),
    ...(isReplanned ? [replanWarning(key)] : []),
  ];
}

const endedPurge =
  'this write has ended a purge that had failed: the destination stays, and what the purge was to remove is still removed; ' +
  'to delete the destination, delete it with purge=true again';

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
