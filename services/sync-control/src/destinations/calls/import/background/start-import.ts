import { randomUUID } from 'node:crypto';
import { type Caller, requireCapability } from '@secrets/caller';
import type { Tx } from '@secrets/db';
import { parsePathTemplate } from '@secrets/destinations';
import { Problem } from '@secrets/domain';
import { requireOverwriteAccess } from '../../../../associations/require-overwrite-access.ts';
import type { Context } from '../../../../context.ts';
import type { DestinationRow } from '../../../../queries/destinations/destinations.ts';
import { findImport, replaceImport } from '../../../../queries/destinations/imports.ts';
import { requireNoPurge } from '../../../background/require-no-purge.ts';
import { requireDestination, requireLockedDestination } from '../../../require-destination.ts';
import { beforeAll } from '../../list-position.ts';
import { withEntries } from '../find-candidates.ts';
import { parseGlob } from '../glob.ts';
import { type Mapped, mapCandidates } from '../import-result.ts';
import { previewPermitted, requireMount } from '../plan-import.ts';
import { associatingCallers } from './associating-callers.ts';
import { type StoredImport, sealImport } from './stored-import.ts';

/** An import as a caller requests it. */
export type NewImport = Omit<StoredImport, 'caller' | 'position'>;

/**
 * Begins an import in the background (`advanceImports`), which replaces the last one of the destination. Nothing is read from
 * the store before. Throws `invalid` for a mount, a pattern or a template that cannot be used, and for two names with one path;
 * `forbidden` if the caller may not associate secrets, or not read or write the path of one of the names; `conflict` while
 * another import of the destination runs, or it is being purged.
 */
export async function startImport(context: Context, caller: Caller, request: NewImport): Promise<void> {
  const template = parsePathTemplate(request.pathTemplate);
  if ('match' in request.selection) parseGlob(request.selection.match);
  const destination = await requireDestination(context, caller, request);
  await requireMount(context, caller, request.mount);
  const paths =
    'names' in request.selection
      ? await permittedPaths(context, caller, { ...request, destination, template, ...request.selection })
      : [];
  if (request.associates) await requireAssociating(context, caller, request, { destination, paths });
  const stored = { ...request, caller, position: beforeAll };
  await context.db.transaction((tx) => record(tx, context, stored));
}

interface NamedImport extends Pick<NewImport, 'mount'> {
  destination: DestinationRow;
  template: ReturnType<typeof parsePathTemplate>;
  names: readonly string[];
}

async function permittedPaths(
  context: Context,
  caller: Caller,
  { destination, template, mount, names }: NamedImport,
): Promise<string[]> {
  const named = names.map((name) => ({ name }));
  const mapped = mapCandidates(template, await withEntries(context, destination, named));
  const wanted = mapped.filter((one): one is Mapped => !('result' in one));
  await previewPermitted(context, caller, mount, wanted);
  return wanted.map(({ path }) => path);
}

/** Without names, it is checked for any secret of the mount, and for each of them again when it is associated. */
async function requireAssociating(
  context: Context,
  caller: Caller,
  request: NewImport,
  { destination, paths }: { destination: DestinationRow; paths: readonly string[] },
): Promise<void> {
  const checked = paths.length > 0 ? paths : [''];
  for (const one of await associatingCallers(context, { ...request, caller }, checked)) {
    requireCapability(one, 'update');
    requireOverwriteAccess(one, destination);
  }
}

async function record(tx: Tx, { keyRing }: Context, stored: StoredImport): Promise<void> {
  const destination = await requireLockedDestination(tx, stored.caller, stored);
  requireNoPurge({ ...destination, purgeError: null });
  const last = await findImport(tx, destination.id);
  if (last?.state === 'running')
    throw new Problem(
      'conflict',
      `import ${last.id} of this destination is running, since ${last.requestedAt.toISOString()}; wait for it, or cancel it with DELETE`,
    );
  const id = randomUUID();
  const sealedRequest = sealImport(keyRing, id, stored);
  await replaceImport(tx, { id, destinationId: destination.id, sealedRequest });
}
