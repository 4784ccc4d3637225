import { notFound } from '@secrets/domain';
import { type Endpoint, endpoint, flag, pageQuery } from '@secrets/http';
import { type Entry, entriesOf } from '@secrets/sync-entries';
import { associate } from '../associations/associate.ts';
import { AssociationPosition, readAssociationPage } from '../associations/association-page.ts';
import { disassociate } from '../associations/disassociate.ts';
import {
  type AssociationLine,
  presentAssociation,
  presentEntries,
  presentUnsynced,
} from '../associations/present-association.ts';
import type { Context } from '../context.ts';
import { type AssociationRow, findAssociation } from '../queries/associations.ts';
import { findDestination } from '../queries/destinations.ts';
import { DestinationRef, SecretRef, WaitQuery } from './fields.ts';

/** Associations of one destination (docs/conventions.md#58-set). */
export const associationEndpoints = (context: Context): Endpoint[] => [
  setAssociation(context),
  removeAssociation(context),
  readAssociations(context),
];

const path = '/sys/sync/destinations/:type/:name/associations';

const setAssociation = (context: Context) =>
  endpoint({
    method: 'post',
    path: `${path}/set`,
    summary: 'Associate a secret with a destination, or push it again',
    params: DestinationRef,
    query: WaitQuery,
    body: SecretRef.extend({ overwrite: flag.default(false) }),
    handle: async ({ params, query, body: { mount, secret_name: secretName, overwrite }, caller }) => {
      const request = { ...params, mount, secretName, overwrite };
      const id = await associate(context, caller, request, query.wait * 1000);
      const association = await findAssociation(context.db, id);
      const lines = association === undefined ? {} : await linesOf(context, association);
      return presentPage(params, lines);
    },
  });

const removeAssociation = (context: Context) =>
  endpoint({
    method: 'post',
    path: `${path}/remove`,
    summary: 'Remove an association: unsync its external secrets',
    params: DestinationRef,
    query: WaitQuery,
    body: SecretRef,
    handle: async ({ params, query, body: { mount, secret_name: secretName }, caller }) => {
      const request = { ...params, mount, secretName };
      const removed = await disassociate(context, caller, request, query.wait * 1000);
      if (removed !== undefined) return presentPage(params, await linesAfterRemoval(context, removed));
      const accessor = await context.secrets.accessorOf(caller, mount);
      return presentPage(params, presentUnsynced({ accessor, mount, secretName }, [], new Date()));
    },
  });

const readAssociations = (context: Context) =>
  endpoint({
    method: 'get',
    path,
    summary: 'Read the associations of a destination, paged by `after` (the last page’s `next`) and `limit`',
    params: DestinationRef,
    query: pageQuery({ max: 5_000, after: AssociationPosition }),
    handle: async ({ params, query: { after, limit }, caller, warn }) => {
      const key = { namespaceId: caller.namespace.id, ...params };
      const destination = await findDestination(context.db, key);
      if (destination === undefined) throw notFound();
      const { parts, next } = await readAssociationPage(context, destination.id, { after, limit });
      if (next !== undefined) warn(`there may be more associations: ask again with after=${next}`);
      const lines = parts.map(({ association, entries }) => presentAssociation(association, entries));
      return presentPage(params, Object.assign({}, ...lines), next === undefined ? {} : { next });
    },
  });

const presentPage = (
  { type, name }: DestinationRef,
  lines: Record<string, AssociationLine>,
  more: { next?: string } = {},
) => ({
  data: { associated_secrets: lines, store_name: name, store_type: type, ...more },
});

async function linesAfterRemoval(
  context: Context,
  { association, entries }: { association: AssociationRow; entries: Entry[] },
) {
  const left = await entriesOf(context.db, [association.id]);
  const leftIds = new Set(left.map(({ id }) => id));
  const deleted = entries.filter(({ id }) => !leftIds.has(id));
  const isUnsynced = deleted.length > 0 || left.length === 0;
  const unsynced = isUnsynced ? presentUnsynced(association, deleted, new Date()) : {};
  return { ...unsynced, ...presentEntries(association, left) };
}

const linesOf = async (context: Context, association: AssociationRow) =>
  presentAssociation(association, await entriesOf(context.db, [association.id]));
