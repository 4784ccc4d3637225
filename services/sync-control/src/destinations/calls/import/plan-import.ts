import type { Caller } from '@secrets/caller';
import { parsePathTemplate } from '@secrets/destinations';
import { type StorePosition, type StoreState, unknownState } from '@secrets/domain';
import type { Context } from '../../../context.ts';
import type { DestinationRow } from '../../../queries/destinations/destinations.ts';
import { type DestinationRef, requireDestination } from '../../require-destination.ts';
import { noCalls } from '../ask-store.ts';
import { beforeAll, openPosition, sealPosition } from '../list-position.ts';
import { listCandidates, withEntries } from './find-candidates.ts';
import { type Glob, parseGlob } from './glob.ts';
import {
  type Candidate,
  cutAtGap,
  hiddenLine,
  type ImportLine,
  lookedAtLine,
  type Mapped,
  mapCandidates,
} from './import-result.ts';
import {
  compareEach,
  type ImportedAs,
  isNew,
  neededFor,
  type Previewed,
  previewEach,
} from './look-at-import.ts';
import { requireImportAccess } from './require-import-access.ts';

/** External secrets that would be imported: those with these names, or part of those whose names match a pattern. */
export interface ImportRequest extends DestinationRef {
  mount: string;
  selection: { names: readonly string[] } | { match: string; after: string | undefined; limit: number };
  /** The template of the paths in the mount. */
  pathTemplate: string;
  importedAs: ImportedAs;
  /** Whether secrets with an equal value would be associated. */
  associates: boolean;
}

interface ImportPlan {
  lines: ImportLine[];
  /** Where the next page begins; undefined after the last one. */
  next: string | undefined;
}

/**
 * Returns what an import would do, without writing anything (docs/conventions/sync-operation.md#import). Values are compared by
 * the worker. Throws `invalid` for a mount, a pattern or a template that cannot be used, and for two names with one path;
 * `forbidden` if the caller may not write or read one of the paths; and as `askStore`.
 */
export async function planImport(
  context: Context,
  caller: Caller,
  request: ImportRequest,
): Promise<ImportPlan> {
  const template = parsePathTemplate(request.pathTemplate);
  const matches = 'match' in request.selection ? parseGlob(request.selection.match) : undefined;
  const destination = await requireDestination(context, caller, request);
  await requireMount(context, caller, request.mount);
  const { candidates, position, next } = await findCandidates(
    context,
    destination,
    request.selection,
    matches,
  );
  const mapped = mapCandidates(template, candidates);
  const wanted = mapped.filter((one): one is Mapped => !('result' in one));
  const planned = await plannedLines(context, caller, { destination, request, wanted });
  const found = new Map(planned.map((line) => [line.externalName, line]));
  const lines = mapped.map((one) => ('result' in one ? one : (found.get(one.name) ?? one)));
  const sealed = (at: StorePosition | null) =>
    at === null ? undefined : sealPosition(context.keyRing, destination.id, at);
  if (position === undefined) return { lines: lines.map(completed), next: undefined };
  const { shown, last } = cutAtGap(lines);
  return { lines: shown, next: sealed(last === undefined ? next : { page: position.page, name: last }) };
}

/** The line of an external secret for which the account has no call. */
const completed = (one: ImportLine | Mapped): ImportLine =>
  'result' in one ? one : lookedAtLine(one, false, unknownState(noCalls));

/** Throws `invalid` if there is no such mount. */
export async function requireMount(
  { secrets }: Pick<Context, 'secrets'>,
  caller: Caller,
  mount: string,
): Promise<void> {
  await secrets.preview(caller, mount, 'any', false);
}

interface FoundCandidates {
  candidates: Candidate[];
  /** Where the part of the list begins, and where it continues; undefined and null without a list. */
  position: StorePosition | undefined;
  next: StorePosition | null;
}

async function findCandidates(
  context: Context,
  destination: DestinationRow,
  selection: ImportRequest['selection'],
  matches: Glob | undefined,
): Promise<FoundCandidates> {
  if ('names' in selection) {
    const named = [...new Set(selection.names)].map((name) => ({ name }));
    const candidates = await withEntries(context, destination, named);
    return { candidates, position: undefined, next: null };
  }
  const { after, limit } = selection;
  const { keyRing } = context;
  const position = after === undefined ? beforeAll : openPosition(keyRing, destination.id, after);
  return {
    position,
    ...(await listCandidates(context, destination, { position, limit, matches: matches! })),
  };
}

interface WantedImport {
  destination: DestinationRow;
  request: ImportRequest;
  wanted: readonly Mapped[];
}

/** Returns no line for what the account has no call for. */
async function plannedLines(
  context: Context,
  caller: Caller,
  { destination, request, wanted }: WantedImport,
): Promise<ImportLine[]> {
  const { mount, importedAs, associates } = request;
  const previews = await previewPermitted(context, caller, mount, wanted);
  const possible = previews.filter((one) => 'secret' in one);
  const hidden = possible.filter(({ isHidden }) => isHidden);
  const shown = possible.filter(({ isHidden }) => !isHidden);
  const states = await compareEach(context, destination, shown, { importedAs });
  return [
    ...previews.filter((one) => 'result' in one),
    ...hidden.map((one) => hiddenLine(one, isNew(one.secret), associates)),
    ...shown.slice(0, states.length).map((one, index) => lineOf(one, states[index]!, associates)),
  ];
}

/** The line for what a worker has looked at. */
export const lineOf = (one: Previewed, state: StoreState, associates: boolean): ImportLine =>
  state.isHidden === true
    ? hiddenLine(one, isNew(one.secret), associates)
    : lookedAtLine(one, isNew(one.secret), state);

/** Reads the state of the secret at each path. Throws `forbidden` if the caller may not read, or not write one of them. */
export async function previewPermitted(
  context: Context,
  caller: Caller,
  mount: string,
  wanted: readonly Mapped[],
): ReturnType<typeof previewEach> {
  const reads = wanted.map(({ path }) => ({ path, capability: 'read' as const }));
  await requireImportAccess(context, caller, mount, reads);
  const previews = await previewEach(context, caller, mount, wanted);
  const possible = previews.filter((one) => 'secret' in one);
  const writes = possible.map(({ path, secret }) => ({ path, capability: neededFor(secret) }));
  await requireImportAccess(context, caller, mount, writes);
  return previews;
}
