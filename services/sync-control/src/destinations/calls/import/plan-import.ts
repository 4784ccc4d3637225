import type { Caller } from '@secrets/caller';
import { findDescription, parsePathTemplate } from '@secrets/destinations';
import { type AskedSecret, Problem, type StorePosition, unknownState } from '@secrets/domain';
import { namesTaken } from '@secrets/sync-entries';
import type { PreviewedSecret } from '../../../changes/secrets-client.ts';
import type { Context } from '../../../context.ts';
import type { DestinationRow } from '../../../queries/destinations/destinations.ts';
import { type DestinationRef, requireDestination } from '../../require-destination.ts';
import { askStore, noCalls } from '../ask-store.ts';
import { beforeAll, openPosition, sealPosition } from '../list-position.ts';
import { type Glob, parseGlob } from './glob.ts';
import {
  type Candidate,
  cutAtGap,
  type ImportLine,
  lookedAtLine,
  type Mapped,
  mapCandidates,
} from './import-result.ts';
import { requireImportAccess } from './require-import-access.ts';

/** External secrets that would be imported: those with these names, or part of those whose names match a pattern. */
export interface ImportRequest extends DestinationRef {
  mount: string;
  selection: { names: readonly string[] } | { match: string; after: string | undefined; limit: number };
  /** The template of the paths in the mount. */
  pathTemplate: string;
  /** Whether a value is a JSON object whose names become the keys, or the text of one key. */
  importedAs: { kind: 'json' } | { kind: 'key'; key: string };
}

interface ImportPlan {
  lines: ImportLine[];
  /** Where the next page begins; undefined after the last one. */
  next: string | undefined;
}

/** Seconds to wait for each of the two reads of a request: together less than the gateway waits. */
const listSeconds = 8;
const lookSeconds = 16;

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
async function requireMount({ secrets }: Context, caller: Caller, mount: string): Promise<void> {
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
  const { secrets, next } = await askStore(context, destination, {
    calls: 1,
    waitSeconds: listSeconds,
    questionFor: () => ({ after: position, limit }),
  });
  const matching = secrets
    .filter(({ name }) => matches!(name))
    .map((one) => ({ name: one.name, listed: one }));
  return { candidates: await withEntries(context, destination, matching), position, next };
}

async function withEntries(
  { db }: Context,
  { id, type }: DestinationRow,
  found: readonly Omit<Candidate, 'entry'>[],
): Promise<Candidate[]> {
  const { collisionKey } = findDescription(type).nameRule;
  const keys = found.map(({ name }) => collisionKey(name));
  const entries = new Map((await namesTaken(db, id, keys)).map((entry) => [entry.collisionKey, entry]));
  return found.map((one, index) => ({ ...one, entry: entries.get(keys[index]!) }));
}

interface WantedImport {
  destination: DestinationRow;
  request: ImportRequest;
  wanted: readonly Mapped[];
}

/** A secret that an import would create, or exists. */
type Previewed = Mapped & { secret: PreviewedSecret };

/** Returns no line for what the account has no call for. */
async function plannedLines(
  context: Context,
  caller: Caller,
  { destination, request, wanted }: WantedImport,
): Promise<ImportLine[]> {
  const { mount } = request;
  await requireImportAccess(
    context,
    caller,
    mount,
    wanted.map(({ path }) => ({ path, capability: 'read' })),
  );
  const previews = await previewEach(context, caller, mount, wanted);
  const possible = previews.filter((one) => 'secret' in one);
  const writes = possible.map(({ path, secret: { exists } }) => {
    const capability = exists ? ('update' as const) : ('create' as const);
    return { path, capability };
  });
  await requireImportAccess(context, caller, mount, writes);
  const looked = await lookAtEach(context, destination, possible, request.importedAs);
  return [...previews.filter((one) => 'result' in one), ...looked];
}

/** Previews that run at the same time. */
const concurrency = 8;

async function previewEach(
  { secrets }: Context,
  caller: Caller,
  mount: string,
  wanted: readonly Mapped[],
): Promise<(ImportLine | Previewed)[]> {
  const previews: (ImportLine | Previewed)[] = [];
  for (let at = 0; at < wanted.length; at += concurrency) {
    const part = wanted.slice(at, at + concurrency).map(async (one) => {
      try {
        return previewed(one, await secrets.preview(caller, mount, one.path, true));
      } catch (error) {
        if (error instanceof Problem && error.kind === 'invalid') return notPossible(one, error.message);
        throw error;
      }
    });
    previews.push(...(await Promise.all(part)));
  }
  return previews;
}

const notPossible = ({ name, path }: Mapped, reason: string): ImportLine => ({
  externalName: name,
  path,
  result: 'name_not_possible',
  reason,
});

function previewed(one: Mapped, secret: PreviewedSecret): ImportLine | Previewed {
  const problem = secret.exists ? null : (secret.new_path_problem ?? null);
  if (problem !== null) return notPossible(one, `the path ${problem}`);
  return { ...one, secret };
}

async function lookAtEach(
  context: Context,
  destination: DestinationRow,
  possible: readonly Previewed[],
  importedAs: ImportRequest['importedAs'],
): Promise<ImportLine[]> {
  if (possible.length === 0) return [];
  const asked = possible.map(({ name, secret }): AskedSecret => {
    const hash = hashToCompare(secret, importedAs);
    return { name, hash, entryId: null, importedAs: importedAs.kind };
  });
  const { states } = await askStore(context, destination, {
    calls: asked.length,
    waitSeconds: lookSeconds,
    questionFor: (calls) => ({ secrets: asked.slice(0, calls) }),
  });
  return possible
    .slice(0, states.length)
    .map((one, index) => lookedAtLine(one, !one.secret.exists, states[index]!));
}

/** The keyed hash of the value that the secret has; empty if there is none to compare with. */
function hashToCompare(
  { readable, keys, value_hash: whole = '', key_hashes: ofKeys = [] }: PreviewedSecret,
  importedAs: ImportRequest['importedAs'],
): string {
  if (!readable) return '';
  return importedAs.kind === 'json' ? whole : (ofKeys[keys.indexOf(importedAs.key)] ?? '');
}
