import type { Caller } from '@secrets/caller';
import { destinationTypes, findDescription } from '@secrets/destinations';
import { notFound } from '@secrets/domain';
import { cutToPage, type Endpoint, endpoint, flag, pageQuery, requireAny } from '@secrets/http';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { confirmRemovals } from '../destinations/confirm-removals.ts';
import { presentStoredDestination } from '../destinations/present-stored-destination.ts';
import { removeDestination } from '../destinations/remove-destination.ts';
import { type DestinationWrite, writeDestination } from '../destinations/write-destination.ts';
import { countDestinations, findDestination, listDestinationNames } from '../queries/destinations.ts';
import { maxCounted, warnIfBounded } from './bounded-totals.ts';
import { DestinationRef, TypeRef } from './fields.ts';

/** Destinations (docs/conventions.md#52-destinations). */
export const destinationEndpoints = (context: Context): Endpoint[] => [
  createOrUpdateDestination(context),
  patchDestination(context),
  readDestination(context),
  deleteDestination(context),
  confirmHeldRemovals(context),
  listDestinations(context),
  listDestinationsOfType(context),
];

const path = '/sys/sync/destinations/:type/:name';
const maxPage = 10_000;

/** The body of a write: an object, whose fields the description of the type judges. */
const AnyFields = z.record(z.string(), z.unknown(), { error: 'the request body must be a JSON object' });

const createOrUpdateDestination = (context: Context) =>
  endpoint({
    method: 'post',
    path,
    summary: 'Create a destination, or update it: omitted fields are kept',
    needs: 'create or update',
    params: DestinationRef,
    body: AnyFields,
    describedAs: ofEachType('post', 'Create or update a destination of type'),
    handle: ({ params, body, caller }) =>
      writeAndPresent(context, caller, params.type, { name: params.name, body, mustExist: false }),
  });

const patchDestination = (context: Context) =>
  endpoint({
    method: 'patch',
    path,
    summary: 'Update a destination',
    params: DestinationRef,
    body: AnyFields,
    describedAs: ofEachType('patch', 'Update a destination of type'),
    handle: ({ params, body, caller }) =>
      writeAndPresent(context, caller, params.type, { name: params.name, body, mustExist: true }),
  });

const readDestination = (context: Context) =>
  endpoint({
    method: 'get',
    path,
    summary: 'Read a destination; secret fields are masked',
    params: DestinationRef,
    handle: async ({ params, caller }) => ({ data: await readAndPresent(context, caller, params) }),
  });

const deleteDestination = (context: Context) =>
  endpoint({
    method: 'delete',
    path,
    summary: 'Delete a destination; with purge, unsync everything first',
    params: DestinationRef,
    query: z.object({ purge: flag.optional(), force_delete: flag.optional() }),
    body: z.object({ purge: flag.optional(), force_delete: flag.optional() }),
    handle: async ({ params, query, body, caller }) => {
      await removeDestination(context, caller, params, {
        purge: query.purge ?? body.purge ?? false,
        force: query.force_delete ?? body.force_delete ?? false,
      });
      return undefined;
    },
  });

const confirmHeldRemovals = (context: Context) =>
  endpoint({
    method: 'post',
    path: `${path}/confirm-removals`,
    summary: 'Confirm removals that are held because the sources of too many entries are gone',
    params: DestinationRef,
    handle: async ({ params, caller }) => {
      const warnings = await confirmRemovals(context, caller, params);
      return { data: await readAndPresent(context, caller, params), warnings };
    },
  });

const listDestinations = (context: Context) =>
  endpoint({
    method: 'list',
    path: '/sys/sync/destinations',
    summary: 'List all destinations by type',
    handle: async ({ caller, warn }) => {
      const namespaceId = caller.namespace.id;
      const types = Object.keys(destinationTypes);
      const lists = await Promise.all(
        types.map(async (type) => [`${type}/`, await firstNames(context, namespaceId, type, warn)] as const),
      );
      const filled = requireAny(lists.filter(([, names]) => names.length > 0));
      const total = await countDestinations(context.db, namespaceId, types, maxCounted);
      warnIfBounded(total, warn);
      const keys = filled.map(([type]) => type);
      return { data: { key_info: Object.fromEntries(filled), keys, total_destinations: total } };
    },
  });

/** The first names of one type. A warning about further ones refers to the list of that type, which has pages. */
async function firstNames(
  context: Context,
  namespaceId: string,
  type: string,
  warn: (sentence: string) => void,
): Promise<string[]> {
  const range = { after: '', limit: maxPage + 1 };
  const names = await listDestinationNames(context.db, namespaceId, type, range);
  const warnOfType = (sentence: string) => warn(`sys/sync/destinations/${type}: ${sentence}`);
  return cutToPage(names, maxPage, (name) => ({ after: name }), warnOfType);
}

const listDestinationsOfType = (context: Context) =>
  endpoint({
    method: 'list',
    path: '/sys/sync/destinations/:type',
    summary: 'List the destinations of one type, paged by `after` and `limit`',
    params: TypeRef,
    query: pageQuery({ max: maxPage, after: z.string().max(4096) }),
    handle: async ({ params: { type }, query: { after = '', limit }, caller, warn }) => {
      findDescription(type);
      const range = { after, limit: limit + 1 };
      const names = await listDestinationNames(context.db, caller.namespace.id, type, range);
      const keys = cutToPage(requireAny(names), limit, (name) => ({ after: name }), warn);
      const total = await countDestinations(context.db, caller.namespace.id, [type], maxCounted);
      warnIfBounded(total, warn);
      return { data: { keys, total_destinations: total } };
    },
  });

/** For the description of the API: the fields depend on the type. */
function ofEachType(method: 'post' | 'patch', summary: string): Endpoint[] {
  return Object.values(destinationTypes).map(({ type, fields }) =>
    endpoint({
      method,
      path: `/sys/sync/destinations/${type}/:name`,
      summary: `${summary} ${type}: omitted fields are kept`,
      body: fields.partial(),
      handle: async () => undefined,
    }),
  );
}

async function writeAndPresent(context: Context, caller: Caller, type: string, write: DestinationWrite) {
  const warnings = await writeDestination(context, caller, findDescription(type), write);
  context.queue.notify();
  return { data: await readAndPresent(context, caller, { type, name: write.name }), warnings };
}

async function readAndPresent(context: Context, caller: Caller, { type, name }: DestinationRef) {
  const row = await findDestination(context.db, { namespaceId: caller.namespace.id, type, name });
  if (row === undefined) throw notFound();
  return presentStoredDestination(context, row);
}
