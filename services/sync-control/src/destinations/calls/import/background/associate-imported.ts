import { type Caller, requireCapability } from '@secrets/caller';
import { findDescription, pushedKey } from '@secrets/destinations';
import { Problem, type ProblemKind } from '@secrets/domain';
import { namesTaken } from '@secrets/sync-entries';
import { associate } from '../../../../associations/associate.ts';
import { namingSchemeOf, wantedEntries } from '../../../../associations/planning/wanted-entries.ts';
import type { Context } from '../../../../context.ts';
import { findAssociationByMount } from '../../../../queries/associations/associations.ts';
import type { DestinationRow } from '../../../../queries/destinations/destinations.ts';
import { type NumberedLine, recordAssociated } from '../../../../queries/destinations/imports.ts';
import { requireDestination } from '../../../require-destination.ts';
import { associatingCallers } from './associating-callers.ts';
import type { StoredImport } from './stored-import.ts';

/**
 * Associates the secrets of lines with the destination, which takes over their external secrets, and records with each line
 * whether it was. A secret whose external secret would have another name, or another value, stays as it is. Throws what a later
 * attempt may not meet; a repeated set changes nothing.
 */
export async function associateImported(
  context: Context,
  importId: string,
  request: StoredImport,
  lines: readonly NumberedLine[],
): Promise<void> {
  const destination = await requireDestination(context, request.caller, request);
  const paths = lines.map(({ path }) => path!);
  const callers = await associatingCallers(context, request, paths);
  for (const [index, line] of lines.entries()) {
    const one = { destination, request, caller: callers[index]!, line };
    const reason = await associateOne(context, one).catch(reasonOf);
    await recordAssociated(context.db, importId, line.number, reason);
  }
}

/** Kinds of problems that a later attempt may not meet. */
const temporary: ReadonlySet<ProblemKind> = new Set([
  'queue_full',
  'rate_limited',
  'unavailable',
  'bad_gateway',
]);

function reasonOf(error: unknown): string {
  if (!(error instanceof Problem) || temporary.has(error.kind)) throw error;
  return `not associated: ${error.message}`;
}

interface ToAssociate {
  destination: DestinationRow;
  request: StoredImport;
  caller: Caller;
  line: NumberedLine;
}

/** Returns why the secret was not associated; null if it is. */
async function associateOne(context: Context, one: ToAssociate): Promise<string | null> {
  const { destination, request, caller, line } = one;
  const { mount, type, name } = request;
  const secretName = line.path!;
  const key = findDescription(type).nameRule.collisionKey(line.externalName);
  const [taken] = await namesTaken(context.db, destination.id, [key]);
  if (taken?.mount === mount && taken.secretName === secretName) return null; // before the process died
  const existing = await findAssociationByMount(context.db, destination.id, mount, secretName);
  if (existing !== undefined && !existing.removing)
    return 'not associated: its secret has an association with this destination, under another name';
  const reason = await whyNotTakenOver(context, one, key);
  if (reason !== undefined) return `not associated: ${reason}`;
  requireCapability(caller, 'update');
  await associate(context, caller, { type, name, mount, secretName, overwrite: true }, 0);
  return null;
}

/** Returns why a set would not push the imported value under the imported name. */
async function whyNotTakenOver(
  { secrets, prefix }: Context,
  { destination, request, caller, line }: ToAssociate,
  collisionKey: string,
): Promise<string | undefined> {
  const { mount, importedAs } = request;
  const secretName = line.path!;
  const secret = await secrets.preview(caller, mount, secretName, false);
  const named = {
    mount: secret.mount_path,
    accessor: secret.accessor,
    secretName,
    namespace: caller.namespace,
    keys: secret.keys,
  };
  const shaped = { ...destination, shape: namingSchemeOf(destination) };
  const wanted = wantedEntries(findDescription(destination.type), shaped, named, prefix);
  const [entry] = wanted;
  if (entry === undefined || wanted.length > 1)
    return `at the granularity of the destination, its secret would be ${wanted.length} external secrets`;
  if (entry.collisionKey !== collisionKey)
    return `the secret_name_template of the destination names it ${entry.externalName}`;
  const pushed = pushedKey(destination.settings, entry.subKey);
  const imported = importedAs.kind === 'key' ? importedAs.key : '';
  if (pushed === imported) return undefined;
  return `it was imported as ${describe(imported)}, but the destination pushes ${describe(pushed)}; see value_key`;
}

const describe = (key: string): string => (key === '' ? 'JSON' : `the key ${key}`);
