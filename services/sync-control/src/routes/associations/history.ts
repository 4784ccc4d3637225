import { notFound, permissionDenied, requireFound } from '@secrets/domain';
import { type Endpoint, endpoint, pageQuery } from '@secrets/http';
import {
  type Entry,
  entriesAfter,
  entriesOfSubKeys,
  findEntry,
  type Outcome,
  readHistory,
} from '@secrets/sync-entries';
import { z } from 'zod';
import { presentEntries, timestamp } from '../../associations/present-association.ts';
import type { Context } from '../../context.ts';
import { requireDestination } from '../../destinations/require-destination.ts';
import { withHoldersOf } from '../../destinations/rules/holders.ts';
import { findAssociationByMount, findAssociationIn } from '../../queries/associations/associations.ts';
import { DestinationParams, SecretRef } from '../fields.ts';

const HistoryQuery = pageQuery({ max: 100, after: z.string().max(4096) }).extend({
  ...SecretRef.shape,
  sub_key: z.string().max(4096).optional(),
});

const path = '/sys/sync/destinations/:type/:name/associations/history';

/**
 * Endpoints for the history of an association's external secrets (docs/conventions/sync-operation.md#operators-view).
 */
export const historyEndpoints = (context: Context): Endpoint[] => [
  readAssociationHistory(context),
  readEntry(context),
];

const readAssociationHistory = (context: Context) =>
  endpoint({
    method: 'get',
    path,
    summary: 'Read the last outcomes of the external secrets of an association',
    params: DestinationParams,
    query: HistoryQuery,
    handle: async ({ params, query, caller }) => {
      const { mount, secret_name: secretName, limit } = query;
      const { id } = await requireDestination(context, caller, params);
      const association = requireFound(await findAssociationByMount(context.db, id, mount, secretName));
      const { entries, next } = await entriesOnPage(context, association.id, query, limit);
      const ids = entries.map((entry) => entry.id);
      const outcomes = Map.groupBy(await readHistory(context.db, ids), ({ entryId }) => entryId);
      return {
        data: {
          store_type: params.shownType,
          store_name: params.name,
          accessor: association.accessor,
          mount,
          secret_name: secretName,
          external_secrets: entries.map((entry) => presentEntryHistory(entry, outcomes.get(entry.id) ?? [])),
          ...(next === undefined ? {} : { next }),
        },
      };
    },
  });

/** Returns the entries of one sub-key, which must exist, or a page of all entries; those of a sub-key are on one page. */
async function entriesOnPage(
  { db }: Context,
  associationId: string,
  { after, sub_key: subKey }: { after?: string | undefined; sub_key?: string | undefined },
  limit: number,
): Promise<{ entries: Entry[]; next?: string }> {
  if (subKey !== undefined) {
    const entries = await entriesOfSubKeys(db, [{ associationId, subKey }]);
    if (entries.length === 0) throw notFound();
    return { entries };
  }
  const position = after === undefined ? undefined : { associationId, subKey: after };
  const found = await entriesAfter(db, [associationId], position, limit + 1);
  const subKeys = [...new Set(found.map((entry) => entry.subKey))];
  if (subKeys.length <= limit) return { entries: found };
  const last = subKeys[limit - 1]!;
  return { entries: found.filter((entry) => subKeys.indexOf(entry.subKey) < limit), next: last };
}

/** Logs and traces name external secrets by the IDs of their entries. */
const readEntry = (context: Context) =>
  endpoint({
    method: 'get',
    path: '/sys/sync/entries/:id',
    summary: 'Read the external secret that a log or a trace names by its ID',
    params: z.object({ id: z.uuid() }),
    handle: async ({ params, caller }) => {
      const entry = requireFound(await findEntry(context.db, params.id));
      const found = await findAssociationIn(context.db, caller.namespace.id, entry.associationId);
      const association = requireFound(found);
      const { type, name } = association;
      const listed = `sys/sync/destinations/${type}/${name}/associations`;
      if (!(await context.policies.mayRead(caller, listed))) throw permissionDenied();
      const [shown] = presentEntries(await withHoldersOf(context.db, association), [entry]);
      const { outcomes } = presentEntryHistory(entry, await readHistory(context.db, [entry.id]));
      return { data: { id: entry.id, store_type: type, store_name: name, ...shown!.line, outcomes } };
    },
  });

const presentEntryHistory = (entry: Entry, outcomes: readonly Outcome[]) => ({
  id: entry.id,
  sub_key: entry.subKey,
  external_name: entry.externalName,
  sync_status: entry.status,
  outcomes: outcomes.map(({ at, since, action, status, fault, error, attempts, repairOf }) => ({
    at: timestamp(at),
    since: timestamp(since),
    action,
    sync_status: status,
    fault,
    error,
    attempts,
    ...(repairOf === null ? {} : { repair_of: repairOf }),
  })),
});
