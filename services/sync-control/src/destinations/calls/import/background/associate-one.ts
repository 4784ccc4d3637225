import { type Caller, requireCapability } from '@secrets/caller';
import { findDescription, pushedKey } from '@secrets/destinations';
import { Problem, type ProblemKind } from '@secrets/domain';
import { namesTaken } from '@secrets/sync-entries';
import { associate } from '../../../../associations/associate.ts';
import { namingSchemeOf, wantedEntries } from '../../../../associations/planning/wanted-entries.ts';
import type { Context } from '../../../../context.ts';
import { findAssociationByMount } from '../../../../queries/associations/associations.ts';
import type { DestinationRow } from '../../../../queries/destinations/destinations.ts';
import type { NumberedLine } from '../../../../queries/destinations/imports.ts';
import type { StoredImport } from './stored-import.ts';

/** A line of an import whose secret is to be associated, and the caller with its grants on that set. */
export interface ToAssociate {
  destination: DestinationRow;
  request: Pick<StoredImport, 'caller' | 'type' | 'name' | 'mount' | 'importedAs'>;
  caller: Caller;
  line: Pick<NumberedLine, 'externalName' | 'path' | 'number'>;
}

/** Associates a secret, which takes over its external secret. Returns why it was not; undefined if it is associated. */
export async function associateOne(context: Context, one: ToAssociate): Promise<string | undefined> {
  const { destination, request, caller, line } = one;
  const { mount, type, name } = request;
  const secretName = line.path!;
  const key = findDescription(type).nameRule.collisionKey(line.externalName);
  const [taken] = await namesTaken(context.db, destination.id, [key]);
  if (taken?.mount === mount && taken.secretName === secretName) return undefined; // before the process died
  const reason = await whyNotAssociated(context, one);
  if (reason !== undefined) return reason;
  requireCapability(caller, 'update');
  await associate(context, caller, { type, name, mount, secretName, overwrite: true }, 0);
  return undefined;
}

/**
 * Returns why a set would not push the imported value under the imported name.
 * @param keys those that the secret will have; by default, those that it has
 */
export async function whyNotAssociated(
  { db, secrets, prefix }: Context,
  { destination, request, caller, line }: ToAssociate,
  keys?: readonly string[],
): Promise<string | undefined> {
  const { mount, importedAs } = request;
  const secretName = line.path!;
  const existing = await findAssociationByMount(db, destination.id, mount, secretName);
  if (existing !== undefined && !existing.removing)
    return 'its secret has an association with this destination, under another name';
  const secret = await secrets.preview(caller, mount, secretName, false);
  const named = {
    mount: secret.mount_path,
    accessor: secret.accessor,
    secretName,
    namespace: caller.namespace,
    keys: keys ?? secret.keys,
  };
  const description = findDescription(destination.type);
  const shaped = { ...destination, shape: namingSchemeOf(destination) };
  const [entry, ...others] = wantedEntries(description, shaped, named, prefix);
  if (entry === undefined) return 'the destination pushes each key by itself; import it as key';
  if (others.length > 0)
    return `at the granularity of the destination, its secret would be ${1 + others.length} external secrets`;
  if (entry.collisionKey !== description.nameRule.collisionKey(line.externalName))
    return `the secret_name_template of the destination names it ${entry.externalName}`;
  const pushed = pushedKey(destination.settings, entry.subKey);
  const imported = importedAs.kind === 'key' ? importedAs.key : '';
  if (pushed === imported) return undefined;
  return `it was imported as ${describe(imported)}, but the destination pushes ${describe(pushed)}; see value_key`;
}

const describe = (key: string): string => (key === '' ? 'JSON' : `the key ${key}`);

/** Kinds of problems that a later attempt may not meet. */
const temporary: ReadonlySet<ProblemKind> = new Set([
  'queue_full',
  'rate_limited',
  'unavailable',
  'bad_gateway',
]);

/** Returns the message of a problem that stays; throws everything else. */
export function lastingReason(error: unknown): string {
  if (!(error instanceof Problem) || temporary.has(error.kind)) throw error;
  return error.message;
}
