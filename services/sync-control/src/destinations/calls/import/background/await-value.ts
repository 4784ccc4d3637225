import { randomUUID } from 'node:crypto';
import { requireCapability } from '@secrets/caller';
import { findDescription } from '@secrets/destinations';
import { namesTaken } from '@secrets/sync-entries';
import { requireOverwriteAccess } from '../../../../associations/require-overwrite-access.ts';
import type { Context } from '../../../../context.ts';
import { upsertAwaited } from '../../../../queries/destinations/awaited-values.ts';
import { type ToAssociate, whyNotAssociated } from './associate-one.ts';
import { sealAwaited } from './stored-import.ts';

/**
 * Records that the first version which somebody writes to the path of a line is pushed, and takes the external secret over
 * (`AwaitedValues`). Creates the secret without a version, which names its origin. Returns why a set would not push it under the
 * imported name; undefined if it is recorded. Throws `forbidden` if the caller may not associate it.
 */
export async function awaitValue(
  context: Context,
  importId: string,
  one: ToAssociate,
): Promise<string | undefined> {
  const { db, keyRing, secrets } = context;
  const { destination, request, caller, line } = one;
  const { mount, type, name, importedAs } = request;
  const { externalName } = line;
  const path = line.path!;
  const collisionKey = findDescription(type).nameRule.collisionKey(externalName);
  const [taken] = await namesTaken(db, destination.id, [collisionKey]);
  if (taken !== undefined) return `its name is that of ${taken.secretName} in mount ${taken.mount}`;
  const keys = importedAs.kind === 'key' ? [importedAs.key] : [];
  const reason = await whyNotAssociated(context, one, keys);
  if (reason !== undefined) return reason;
  requireCapability(caller, 'update');
  requireOverwriteAccess(caller, destination);
  const origin = `${type}/${name}/${externalName}`;
  const { secret_id: secretId, revision } = await secrets.awaitValue(caller, { mount, path, origin });
  const id = randomUUID();
  const awaited = { caller: request.caller, type, name, mount, importedAs, externalName, path };
  const sealedRequest = sealAwaited(keyRing, id, awaited);
  const row = { id, destinationId: destination.id, secretId, seenRevision: revision, sealedRequest };
  await upsertAwaited(db, { ...row, importId, line: line.number });
  return undefined;
}
