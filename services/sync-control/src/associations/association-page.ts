import type { PageRange } from '@secrets/db';
import { driftKinds, stringList, syncStatuses } from '@secrets/domain';
import {
  type Entry,
  entriesAfter,
  entriesOfSubKeys,
  subKeysWithDrift,
  subKeysWithStatus,
} from '@secrets/sync-entries';
import { z } from 'zod';
import type { Context } from '../context.ts';
import {
  beforeFirst,
  listAssociations,
  listAssociationsById,
  listIdsWithUnnamedKeys,
} from '../queries/associations/association-pages.ts';
import type { AssociationRow } from '../queries/associations/associations.ts';
import { type AssociationLine, unnamedStatus } from './present-association.ts';

/** The last line of a page: an association and, if it continues on the next page, a sub-key of it. */
interface Position {
  associationId: string;
  subKey?: string;
}

/** A position in the query: the ID of an association, followed by a slash and the sub-key in base64url. */
export const AssociationPosition = z
  .string()
  .regex(
    /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(\/[A-Za-z0-9_-]*)?$/i,
    'must be the `next` of another page',
  )
  .transform((text): Position => {
    const [associationId = '', encoded] = text.split('/');
    if (encoded === undefined) return { associationId };
    return { associationId, subKey: Buffer.from(encoded, 'base64url').toString().replaceAll('\0', '') };
  });

/** Values in the query, separated by commas. */
const oneOrMoreOf = <Value extends string>(values: readonly Value[]) => {
  const isValue = (text: string): text is Value => (values as readonly string[]).includes(text);
  return stringList
    .refine((given) => given.length > 0 && given.every(isValue), {
      error: `must be one or more of ${values.join(', ')}, separated by commas`,
    })
    .meta({ type: 'string', pattern: `^(?:${values.join('|')})(?:,(?:${values.join('|')}))*$` })
    .transform((given) => [...new Set(given.filter(isValue))]);
};

/** The filters of a page; with both, lines that match each. */
export const AssociationFilter = z.object({
  status: oneOrMoreOf(syncStatuses).optional(),
  drift: oneOrMoreOf(driftKinds.filter((kind) => kind !== 'none')).optional(),
});
export type AssociationFilter = z.infer<typeof AssociationFilter>;

/** Whether a line has one of the values of each filter that is given. */
export const isWanted = ({ status, drift }: AssociationFilter, line: AssociationLine): boolean =>
  (status?.includes(line.sync_status) ?? true) && (drift?.some((kind) => kind === line.drift) ?? true);

const presentPosition = ({ associationId, subKey }: Position): string =>
  subKey === undefined ? associationId : `${associationId}/${Buffer.from(subKey).toString('base64url')}`;

/** Part of an association that is on one page. */
interface AssociationPart {
  association: AssociationRow;
  entries: Entry[];
}

/** A page of associations in the order of their IDs. */
interface AssociationPage {
  parts: AssociationPart[];
  /** The `after` of the next page; undefined if this is the last one. */
  next: string | undefined;
}

/**
 * Returns at most `limit` lines of a destination, one for each sub-key of an association, after the last line of the previous
 * page. An association with many keys continues on the next page. Keys that cannot be synced are on the first page of their
 * association, even if there is no room for them.
 */
export async function readAssociationPage(
  { db }: Context,
  destinationId: string,
  { after, limit }: PageRange<Position | undefined>,
): Promise<AssociationPage> {
  const rows = await listAssociations(db, destinationId, { after, limit: limit + 1 });
  const ids = rows.map(({ id }) => id);
  const entries = await entriesAfter(db, ids, after, limit + 1);
  return cutPage(rows, { entries, isCut: entries.length > limit, after }, limit);
}

/**
 * Returns a page like `readAssociationPage`, but only with sub-keys that have an entry with the wanted drift or, without one,
 * status, and with keys that cannot be synced if only their status is wanted. The lines of some may not match: of a sub-key
 * whose external secret is being replaced, and of one that matches only one of two filters.
 */
export async function readFilteredAssociationPage(
  { db }: Context,
  destinationId: string,
  { filter, after, limit }: PageRange<Position | undefined> & { filter: AssociationFilter },
): Promise<AssociationPage> {
  const { status: statuses = [], drift } = filter;
  const cut = { after, limit: limit + 1 };
  const subKeys =
    drift === undefined
      ? await subKeysWithStatus(db, destinationId, statuses, cut)
      : await subKeysWithDrift(db, destinationId, drift, cut);
  const withUnnamed = drift === undefined && statuses.includes(unnamedStatus);
  const range = { after: after?.associationId ?? beforeFirst, limit: limit + 1 };
  const unnamed = withUnnamed ? await listIdsWithUnnamedKeys(db, destinationId, range) : [];
  const ids = new Set([...subKeys.map(({ associationId }) => associationId), ...unnamed]);
  const rows = await listAssociationsById(db, [...ids]);
  const shown = withUnnamed ? rows : rows.map((row) => ({ ...row, unnamedKeys: [] }));
  const entries = await entriesOfSubKeys(db, subKeys);
  return cutPage(shown, { entries, isCut: subKeys.length > limit, after }, limit);
}

/** The entries of the page's associations. If `isCut`, the last one may be followed by others. */
interface FoundEntries {
  entries: readonly Entry[];
  isCut: boolean;
  after: Position | undefined;
}

function cutPage(
  rows: readonly AssociationRow[],
  { entries, isCut, after }: FoundEntries,
  limit: number,
): AssociationPage {
  const lastFound = isCut ? entries.at(-1)?.associationId : undefined;
  const byAssociation = Map.groupBy(entries, ({ associationId }) => associationId);
  const parts: AssociationPart[] = [];
  let room = limit;
  for (const row of rows) {
    const isContinued = row.id === after?.associationId;
    const association = isContinued ? { ...row, unnamedKeys: [] } : row;
    const ofKeys = [...Map.groupBy(byAssociation.get(row.id) ?? [], ({ subKey }) => subKey)];
    const unnamed = association.unnamedKeys.length;
    const fitting = ofKeys.slice(0, Math.max(room - unnamed, parts.length === 0 ? 1 : 0));
    const previous = parts.at(-1)?.association.id;
    const isFull = room <= 0 || (fitting.length === 0 && ofKeys.length > 0);
    if (previous !== undefined && isFull) return { parts, next: previous };
    parts.push({ association, entries: fitting.flatMap(([, same]) => same) });
    const subKey = fitting.at(-1)?.[0];
    if (subKey !== undefined && (fitting.length < ofKeys.length || row.id === lastFound))
      return { parts, next: presentPosition({ associationId: row.id, subKey }) };
    room -= Math.max(1, unnamed + fitting.length);
  }
  return { parts, next: undefined };
}
