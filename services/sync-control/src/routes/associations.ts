import type { Caller } from '@secrets/caller';
import { notFound } from '@secrets/domain';
import { endpoint, flag } from '@secrets/http';
import { type Entry, entriesOf } from '@secrets/sync-entries';
import { z } from 'zod';
import { associate } from '../associate.ts';
import type { Context } from '../context.ts';
import { disassociate } from '../disassociate.ts';
import {
  type AssociationLine,
  presentAssociation,
  presentEntries,
  presentUnsynced,
} from '../present-association.ts';
import { type AssociationRow, associationsOf, findAssociation } from '../queries/associations.ts';
import { findDestination } from '../queries/destinations.ts';
import { DestinationRef, SecretRef, WaitQuery } from './destination-ref.ts';

const path = '/sys/sync/destinations/:type/:name/associations';
const firstId = '00000000-0000-0000-0000-000000000000';

export const setAssociation = (context: Context) =>
  endpoint({
    method: 'post',
    path: `${path}/set`,
    summary: 'Associate a secret with a destination, or push it again',
    params: DestinationRef,
    query: WaitQuery,
    body: SecretRef.extend({ overwrite: flag.default(false) }),
    handle: async ({ params, query, body, caller }) => {
      const { mount, secret_name: secretName, overwrite } = body;
      const id = await associate(
        context,
        caller,
        { ...params, mount, secretName, overwrite },
        query.wait * 1000,
      );
      const association = await findAssociation(context.db, id);
      const lines =
        association === undefined ? {} : presentAssociation(association, await entriesOf(context.db, [id]));
      return presentPage(params, lines);
    },
  });

export const removeAssociation = (context: Context) =>
  endpoint({
    method: 'post',
    path: `${path}/remove`,
    summary: 'Remove an association: unsync its external secrets',
    params: DestinationRef,
    query: WaitQuery,
    body: SecretRef,
    handle: async ({ params, query, body, caller }) => {
      const { mount, secret_name: secretName } = body;
      const removed = await disassociate(
        context,
        caller,
        { ...params, mount, secretName },
        query.wait * 1000,
      );
      if (removed === undefined) {
        const accessor = await context.secrets.accessorOf(caller, mount);
        return presentPage(params, presentUnsynced({ accessor, mount, secretName }, [], new Date()));
      }
      return presentPage(params, await linesAfterRemoval(context, removed));
    },
  });

export const readAssociations = (context: Context) =>
  endpoint({
    method: 'get',
    path,
    summary: 'Read the associations of a destination, paged by `after` (the last page’s `next`) and `limit`',
    params: DestinationRef,
    query: z.object({
      after: z.uuid().default(firstId),
      limit: z.coerce.number().int().min(1).max(5_000).default(5_000),
    }),
    handle: async ({ params, query, caller, warn }) => {
      const destination = await findDestination(context.db, keyOf(caller, params));
      if (destination === undefined) throw notFound();
      const page = await associationsOf(context.db, destination.id, query.after, query.limit);
      const next = page.length === query.limit ? page.at(-1)?.id : undefined;
      if (next !== undefined) warn(`there may be more associations: ask again with after=${next}`);
      return presentPage(params, await linesOf(context, page), next === undefined ? {} : { next });
    },
  });

type Ref = z.infer<typeof DestinationRef>;

const keyOf = (caller: Caller, { type, name }: Ref) => ({ namespaceId: caller.namespace.id, type, name });

const presentPage = ({ type, name }: Ref, lines: Record<string, AssociationLine>, more: object = {}) => ({
  data: { associated_secrets: lines, store_name: name, store_type: type, ...more },
});

async function linesAfterRemoval(
  { db }: Context,
  { association, entries }: { association: AssociationRow; entries: Entry[] },
) {
  const left = await entriesOf(db, [association.id]);
  const leftIds = new Set(left.map(({ id }) => id));
  const gone = entries.filter(({ id }) => !leftIds.has(id));
  const unsynced = gone.length > 0 || left.length === 0 ? presentUnsynced(association, gone, new Date()) : {};
  return { ...unsynced, ...presentEntries(association, left) };
}

async function linesOf(
  { db }: Context,
  associations: readonly AssociationRow[],
): Promise<Record<string, AssociationLine>> {
  const entries = Map.groupBy(
    await entriesOf(
      db,
      associations.map(({ id }) => id),
    ),
    ({ associationId }) => associationId,
  );
  return Object.assign(
    {},
    ...associations.map((association) => presentAssociation(association, entries.get(association.id) ?? [])),
  );
}
