import { parsePathTemplate } from '@secrets/destinations';
import {
  maxLookedAt,
  notFound,
  type SignedGrant,
  type StorePosition,
  type StoreState,
} from '@secrets/domain';
import type { Context } from '../../../../context.ts';
import type { DestinationRow } from '../../../../queries/destinations/destinations.ts';
import {
  findUsedPaths,
  type ImportLease,
  type RecordedLine,
} from '../../../../queries/destinations/imports.ts';
import { requireDestination } from '../../../require-destination.ts';
import { noCalls } from '../../ask-store.ts';
import { listCandidates, withEntries } from '../find-candidates.ts';
import { parseGlob } from '../glob.ts';
import {
  type Candidate,
  hiddenLine,
  type ImportLine,
  type Mapped,
  mapDistinct,
  pathsOf,
} from '../import-result.ts';
import { compareEach, isNew, neededFor, type Previewed, previewEach } from '../look-at-import.ts';
import { lineOf, requireMount } from '../plan-import.ts';
import { whyNoImportAccess } from '../require-import-access.ts';
import type { StoredImport } from './stored-import.ts';

/** The lines of a page, and where the next one begins. */
export interface ImportPage {
  lines: RecordedLine[];
  /** Null after the last page. */
  next: StorePosition | null;
  /** Why it ends early; null if it does not. */
  reason: string | null;
}

/** After as many pages that have failed at it, an external secret is left out. */
const maxAttempts = 5;

/**
 * Imports the next external secrets, at most 50: maps them to paths, checks what the caller may write, and has a worker compare
 * and write the values. A page ends before an external secret that could not be looked at now. Repeated, it finds equal values,
 * so nothing is written twice. Throws as `askStore`.
 */
export async function importPage(
  context: Context,
  lease: Pick<ImportLease, 'id' | 'destinationId' | 'attempts'>,
  request: StoredImport,
): Promise<ImportPage> {
  const destination = await requireDestination(context, request.caller, request);
  if (destination.id !== lease.destinationId) throw notFound();
  await requireMount(context, request.caller, request.mount);
  const part = await nextPart(context, destination, request);
  const template = parsePathTemplate(request.pathTemplate);
  const used = await findUsedPaths(context.db, lease.id, pathsOf(template, part.candidates));
  const mapped = mapDistinct(template, part.candidates, used);
  const done = await importEach(context, { destination, request, mapped });
  const cut = cutPage(done, lease.attempts >= maxAttempts);
  return {
    lines: cut.lines.map((line) => recorded(line, request)),
    next: cut.reason === null ? part.next : part.after(cut.lines.length, cut.lines.at(-1)),
    reason: cut.reason,
  };
}

interface Part {
  candidates: Candidate[];
  /** Where the next page begins if this one is complete. */
  next: StorePosition | null;
  /** Where the next page begins if this one ends after so many lines. */
  after(lines: number, last: ImportLine | undefined): StorePosition;
}

async function nextPart(
  context: Context,
  destination: DestinationRow,
  { selection, position }: StoredImport,
): Promise<Part> {
  if ('match' in selection) {
    const matches = parseGlob(selection.match);
    const part = await listCandidates(context, destination, { position, limit: maxLookedAt, matches });
    const after: Part['after'] = (_, last) =>
      last === undefined ? position : { page: position.page, name: last.externalName };
    return { ...part, after };
  }
  const start = Number(position.page ?? 0);
  const names = selection.names.slice(start, start + maxLookedAt);
  const candidates = await withEntries(
    context,
    destination,
    names.map((name) => ({ name })),
  );
  const at = (index: number): StorePosition => ({ page: String(index), name: '' });
  const end = start + names.length;
  return {
    candidates,
    next: end < selection.names.length ? at(end) : null,
    after: (lines) => at(start + lines),
  };
}

type WrittenLine = ImportLine & { isWritten: boolean };

/** The line of an external secret, or why it has none yet. */
type Done = WrittenLine | { postponed: Mapped; reason: string; isTried: boolean };

interface Importing {
  destination: DestinationRow;
  request: StoredImport;
  mapped: readonly (ImportLine | Mapped)[];
}

async function importEach(context: Context, { destination, request, mapped }: Importing): Promise<Done[]> {
  const wanted = mapped.filter((one): one is Mapped => !('result' in one));
  const readable = await permitted(context, request, wanted, () => 'read');
  const previews = await previewEach(context, request.caller, request.mount, readable.mapped);
  const writable = await permitted(
    context,
    request,
    previews.filter((one) => 'secret' in one),
    ({ secret }) => neededFor(secret),
  );
  const hidden = writable.mapped.filter(({ isHidden }) => isHidden);
  const shown = writable.mapped.filter(({ isHidden }) => !isHidden);
  const states = await compareEach(context, destination, shown, {
    importedAs: request.importedAs,
    permitFor: (one) => permitFor(context, request, one),
  });
  const known = [
    ...mapped.filter((one) => 'result' in one),
    ...previews.filter((one) => 'result' in one),
    ...readable.refused,
    ...writable.refused,
    ...hidden.map((one) => hiddenLine(one, isNew(one.secret), request.associates)),
  ].map((line): Done => ({ ...line, isWritten: false }));
  const looked = shown.map((one, index) => doneOf(one, states[index], request));
  const byName = new Map([...known, ...looked].map((one) => [nameOf(one), one]));
  return mapped.map((one) => byName.get('result' in one ? one.externalName : one.name)!);
}

const nameOf = (one: Done): string => ('postponed' in one ? one.postponed.name : one.externalName);

/** Those whose path the caller may use, and a line for each of the others. */
async function permitted<One extends Mapped>(
  context: Context,
  { caller, mount }: StoredImport,
  wanted: readonly One[],
  capabilityFor: (one: One) => 'read' | 'create' | 'update',
): Promise<{ mapped: One[]; refused: ImportLine[] }> {
  const requests = wanted.map((one) => ({ path: one.path, capability: capabilityFor(one) }));
  const reasons = await whyNoImportAccess(context, caller, mount, requests);
  return {
    mapped: wanted.filter((_, index) => reasons[index] === undefined),
    refused: wanted.flatMap(({ name, path }, index) => {
      const reason = reasons[index];
      return reason === undefined ? [] : [{ externalName: name, path, result: 'not_permitted', reason }];
    }),
  };
}

/** Whether the value is written if it is not equal. */
const isPermitted = ({ onConflict }: StoredImport, { secret }: Previewed): boolean =>
  isNew(secret) || (onConflict === 'new_version' && secret.current_version !== undefined);

function permitFor({ secrets }: Context, request: StoredImport, one: Previewed): SignedGrant | undefined {
  if (!isPermitted(request, one)) return undefined;
  const { caller, importedAs, type, name } = request;
  return secrets.permitImport(caller, {
    namespace_id: caller.namespace.id,
    mount: one.secret.mount_path,
    path: one.path,
    cas: one.secret.current_version ?? 0,
    key: importedAs.kind === 'key' ? importedAs.key : null,
    origin: `${type}/${name}/${one.name}`,
  });
}

const ofEarlierVersion = 'the worker is of an earlier version, which cannot import';

function doneOf(one: Previewed, state: StoreState | undefined, request: StoredImport): Done {
  if (state === undefined) return { postponed: one, reason: noCalls, isTried: false };
  const { isTemporary = false, isWritten = false, reason } = state;
  if (isTemporary) return { postponed: one, reason: reason ?? '', isTried: true };
  if (state.state === 'different' && isPermitted(request, one) && !isWritten)
    return { postponed: one, reason: ofEarlierVersion, isTried: false };
  return { ...lineOf(one, state, request.associates), isWritten };
}

/**
 * Returns the lines before the first external secret without one, and why it has none.
 * @param isLastAttempt whether one that is the first, and has failed again, gets a line with the reason
 */
function cutPage(
  done: readonly Done[],
  isLastAttempt: boolean,
): { lines: WrittenLine[]; reason: string | null } {
  const gap = done.findIndex((one) => 'postponed' in one);
  const lines = done
    .slice(0, gap < 0 ? undefined : gap)
    .filter((one): one is WrittenLine => !('postponed' in one));
  const postponed = done[gap];
  if (postponed === undefined || !('postponed' in postponed)) return { lines, reason: null };
  const { reason, isTried } = postponed;
  if (gap > 0 || !isLastAttempt || !isTried) return { lines, reason };
  const { name, path } = postponed.postponed;
  const given = { externalName: name, path, result: 'unreadable', reason, isWritten: false } as const;
  return { lines: [given], reason };
}

/** Results after which the secret has the value, or will have. */
const associated: ReadonlySet<ImportLine['result']> = new Set(['new', 'same_value', 'value_needed']);

function recorded(line: WrittenLine, { associates }: StoredImport): RecordedLine {
  const isEqual = line.isWritten || associated.has(line.result);
  return { ...line, association: associates && isEqual ? 'requested' : null };
}
