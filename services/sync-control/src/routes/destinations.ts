import type { Caller } from '@secrets/caller';
import { destinationTypes, findDescription, presentDestination } from '@secrets/destinations';
import { notFound, Problem } from '@secrets/domain';
import { type Endpoint, endpoint, flag } from '@secrets/http';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { countDestinations, destinationNames, findDestination } from '../queries/destinations.ts';
import { removeDestination } from '../remove-destination.ts';
import { decryptDestination, writeDestination } from '../write-destination.ts';
import { maxCounted, warnIfBounded } from './bounded-totals.ts';
import { AnyFields, DestinationRef, Page, TypeRef } from './destination-ref.ts';

const path = '/sys/sync/destinations/:type/:name';

export const createOrUpdateDestination = (context: Context) =>
  endpoint({
    method: 'post',
    path,
    summary: 'Create a destination, or update it: what is omitted is kept',
    params: DestinationRef,
    body: AnyFields,
    describedAs: ofEachType('post', 'Create or update a destination of type'),
    handle: ({ params, body, caller }) => write(context, caller, params, { body, mustExist: false }),
  });

export const patchDestination = (context: Context) =>
  endpoint({
    method: 'patch',
    path,
    summary: 'Update a destination',
    params: DestinationRef,
    body: AnyFields,
    describedAs: ofEachType('patch', 'Update a destination of type'),
    handle: ({ params, body, caller }) => write(context, caller, params, { body, mustExist: true }),
  });

export const readDestination = (context: Context) =>
  endpoint({
    method: 'get',
    path,
    summary: 'Read a destination; secret fields are masked',
    params: DestinationRef,
    handle: async ({ params, caller }) => ({ data: await read(context, caller, params) }),
  });

export const deleteDestination = (context: Context) =>
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
        forceDelete: query.force_delete ?? body.force_delete ?? false,
      });
      return undefined;
    },
  });

export const listDestinations = ({ db }: Context) =>
  endpoint({
    method: 'list',
    path: '/sys/sync/destinations',
    summary: 'List all destinations by type',
    handle: async ({ caller, warn }) => {
      const namespaceId = caller.namespace.id;
      const lists = await Promise.all(
        Object.keys(destinationTypes).map(
          async (type) => [`${type}/`, await destinationNames(db, namespaceId, type, '', 10_000)] as const,
        ),
      );
      const filled = lists.filter(([, names]) => names.length > 0);
      if (filled.length === 0) throw notFound();
      const total = await countDestinations(db, namespaceId, null, maxCounted);
      warnIfBounded(total, warn);
      return {
        data: {
          key_info: Object.fromEntries(filled),
          keys: filled.map(([type]) => type),
          total_destinations: total,
        },
      };
    },
  });

export const listDestinationsOfType = ({ db }: Context) =>
  endpoint({
    method: 'list',
    path: '/sys/sync/destinations/:type',
    summary: 'List the destinations of one type, paged by `after` and `limit`',
    params: TypeRef,
    query: Page,
    handle: async ({ params, query, caller, warn }) => {
      findDescription(params.type);
      const names = await destinationNames(db, caller.namespace.id, params.type, query.after, query.limit);
      if (names.length === 0) throw notFound();
      const total = await countDestinations(db, caller.namespace.id, params.type, maxCounted);
      warnIfBounded(total, warn);
      return { data: { keys: names, total_destinations: total } };
    },
  });

/** For the API's description: which fields there are depends on the type. */
function ofEachType(method: 'post' | 'patch', summary: string): Endpoint[] {
  return Object.values(destinationTypes).map(({ type, fields }) =>
    endpoint({
      method,
      path: `/sys/sync/destinations/${type}/:name`,
      summary: `${summary} ${type}: what is omitted is kept`,
      body: fields.partial(),
      handle: async () => undefined,
    }),
  );
}

type Ref = z.infer<typeof DestinationRef>;

async function write(
  context: Context,
  caller: Caller,
  ref: Ref,
  request: { body: Record<string, unknown>; mustExist: boolean },
) {
  const warnings = await writeDestination(context, caller, findDescription(ref.type), {
    name: ref.name,
    ...request,
  });
  context.queue.notify();
  return { data: await read(context, caller, ref), warnings };
}

async function read(context: Context, caller: Caller, { type, name }: Ref) {
  const row = await findDestination(context.db, { namespaceId: caller.namespace.id, type, name });
  if (row === undefined) throw new Problem('not_found');
  const { settings, credentials } = decryptDestination(context.keyRing, row);
  const view = { name, settings, credentialNames: Object.keys(credentials), prefix: context.prefix };
  return {
    ...presentDestination(findDescription(type), view),
    ...(row.purgeInitiatedAt === null
      ? {}
      : { purge_initiated_at: row.purgeInitiatedAt.toISOString(), purge_error: row.purgeError ?? '' }),
  };
}
