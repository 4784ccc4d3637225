import type { Caller } from '@secrets/caller';
import { destinationTypes, findDescription } from '@secrets/destinations';
import {
  cutToPage,
  type Endpoint,
  type EndpointDescription,
  endpoint,
  flag,
  pageQuery,
  requireNonEmpty,
} from '@secrets/http';
import { type Installation, readInstallation } from '@secrets/sync-entries';
import { z } from 'zod';
import type { Context } from '../../context.ts';
import { approveHeldRemovals } from '../../destinations/approve-held-removals.ts';
import { approveHeldRepairs } from '../../destinations/background/repairs/approve-held-repairs.ts';
import { startRetry } from '../../destinations/background/start-retry.ts';
import { confirmScope } from '../../destinations/confirm-scope.ts';
import { readStoredDestination } from '../../destinations/read-stored-destination.ts';
import { removeDestination } from '../../destinations/remove-destination.ts';
import { requireDestination } from '../../destinations/require-destination.ts';
import { type DestinationWrite, saveDestination } from '../../destinations/save-destination.ts';
import { countDestinations, listDestinationNames } from '../../queries/destinations/destinations.ts';
import { whyHeld } from '../../queue/why-held.ts';
import { maxCounted, warnIfBounded } from '../bounded-totals.ts';
import { DestinationParams, name as destinationName, TypeParams } from '../fields.ts';

const maxPage = 10_000;

/** The body of a write: an object, whose fields the description of the type checks. */
const AnyFields = z.record(z.string(), z.unknown(), { error: 'the request body must be a JSON object' });

/** Options for deleting a destination, in the query or in the body. */
const DeletionOptions = z.object({
  purge: flag.optional(),
  keep: flag.optional(),
  force_delete: flag.optional(),
});

const listPath = '/sys/sync/destinations';
const path = `${listPath}/:type/:name`;

/** `sys/sync/destinations/…` (docs/conventions/sync.md#destinations). */
export const destinationEndpoints = (context: Context): Endpoint[] => [
  listDestinations(context),
  listDestinationsOfType(context),
  readDestination(context),
  writeDestination(context),
  patchDestination(context),
  deleteDestination(context),
  retryDestination(context),
  confirmRemovals(context),
  confirmRepairs(context),
  confirmOtherScope(context),
];

const listDestinations = (context: Context) =>
  endpoint({
    method: 'list',
    path: listPath,
    summary: 'List the destinations of this namespace by type',
    handle: async ({ caller, warn }) => {
      const namespaceId = caller.namespace.id;
      const types = Object.keys(destinationTypes);
      const lists = await Promise.all(
        types.map(async (type) => [`${type}/`, await firstNames(context, namespaceId, type, warn)] as const),
      );
      const filled = requireNonEmpty(lists.filter(([, names]) => names.length > 0));
      const total = await countDestinations(context.db, namespaceId, types, maxCounted);
      warnIfBounded(total, warn);
      const keys = filled.map(([type]) => type);
      return { data: { key_info: Object.fromEntries(filled), keys, total_destinations: total } };
    },
  });

const listDestinationsOfType = (context: Context) =>
  endpoint({
    method: 'list',
    path: `${listPath}/:type`,
    summary: 'List the destinations of one type in this namespace',
    params: TypeParams,
    query: pageQuery({ max: maxPage, after: z.string().max(4096) }),
    handle: async ({ params, query, caller, warn }) => {
      const { type } = params;
      const { after = '', limit } = query;
      findDescription(type);
      const range = { after, limit: limit + 1 };
      const names = await listDestinationNames(context.db, caller.namespace.id, type, range);
      const keys = cutToPage(requireNonEmpty(names), limit, (name) => ({ after: name }), warn);
      const total = await countDestinations(context.db, caller.namespace.id, [type], maxCounted);
      warnIfBounded(total, warn);
      return { data: { keys, total_destinations: total } };
    },
  });

const readDestination = (context: Context) =>
  endpoint({
    method: 'get',
    path,
    summary: 'Read a destination; secret fields are masked',
    params: DestinationParams,
    handle: async ({ params, caller, warn }) => {
      const installation = await readInstallation(context.db);
      const data = await readShown(context, caller, params, installation);
      const held = whyHeld(installation);
      if (held !== undefined) warn(held);
      return { data };
    },
  });

const writeDestination = (context: Context) =>
  endpoint({
    method: 'post',
    path,
    summary: 'Create or replace a destination; omitted settings are reset, omitted credentials are kept',
    needs: 'create or update',
    params: DestinationParams,
    body: AnyFields,
    describedAs: ofEachType(
      'post',
      (type) =>
        `Create or replace a destination of type ${type}; omitted settings are reset, omitted credentials are kept`,
    ),
    handle: ({ params, body, caller }) => saveAndRead(context, caller, params, { body, isPatch: false }),
  });

const patchDestination = (context: Context) =>
  endpoint({
    method: 'patch',
    path,
    summary: 'Update a destination (merge patch); null restores a default',
    params: DestinationParams,
    body: AnyFields,
    describedAs: ofEachType(
      'patch',
      (type) => `Update a destination of type ${type} (merge patch); null restores a default`,
    ),
    handle: ({ params, body, caller }) => saveAndRead(context, caller, params, { body, isPatch: true }),
  });

const deleteDestination = (context: Context) =>
  endpoint({
    method: 'delete',
    path,
    summary:
      'Delete a destination; with purge, unsync everything first; with keep, leave the external secrets',
    params: DestinationParams,
    query: DeletionOptions,
    body: DeletionOptions,
    handle: ({ params, query, body, caller }) =>
      removeDestination(context, caller, params, {
        purge: query.purge ?? body.purge ?? false,
        keep: query.keep ?? body.keep ?? false,
        force: query.force_delete ?? body.force_delete ?? false,
      }),
  });

/** Options of a retry, in the body. */
const RetryOptions = z
  .object({ all: flag.default(false), overwrite: flag.default(false) })
  .refine(({ all, overwrite }) => all || !overwrite, { path: ['overwrite'], error: 'requires all' });

const retryDestination = (context: Context) =>
  endpoint({
    method: 'post',
    path: `${path}/retry`,
    summary: 'Resend everything that has failed in a destination, or compare and repair all of it',
    params: DestinationParams,
    body: RetryOptions,
    handle: async ({ params, body, caller }) => {
      await startRetry(context, caller, params, body);
      context.queue.notify();
      return { data: await readShown(context, caller, params) };
    },
  });

const confirmRemovals = (context: Context) =>
  endpoint({
    method: 'post',
    path: `${path}/confirm-removals`,
    summary: 'Confirm removals that are held because the sources of too many entries are gone',
    params: DestinationParams,
    handle: async ({ params, caller }) => {
      const warnings = await approveHeldRemovals(context, caller, params);
      return { data: await readShown(context, caller, params), warnings };
    },
  });

const confirmRepairs = (context: Context) =>
  endpoint({
    method: 'post',
    path: `${path}/confirm-repairs`,
    summary: 'Confirm repairs that are held because too many external secrets were changed by somebody else',
    params: DestinationParams,
    handle: async ({ params, caller }) => {
      const warnings = await approveHeldRepairs(context, caller, params);
      return { data: await readShown(context, caller, params), warnings };
    },
  });

/** The ID of a scope, as a failed write and the destination show it. */
const ScopeConfirmation = z.object({
  scope_id: z.string().regex(/^[\w./:-]{1,255}$/, 'must be the ID that the errors of the entries name'),
});

const confirmOtherScope = (context: Context) =>
  endpoint({
    method: 'post',
    path: `${path}/confirm-scope`,
    summary:
      'Confirm that the external secrets belong in another scope, such as a repository that was created again',
    params: DestinationParams,
    body: ScopeConfirmation,
    handle: async ({ params, body, caller }) => {
      const warnings = await confirmScope(context, caller, params, body.scope_id);
      context.queue.notify();
      return { data: await readShown(context, caller, params), warnings };
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

/** For the description of the API: the fields depend on the type. */
function ofEachType(method: 'post' | 'patch', summaryOf: (type: string) => string): EndpointDescription[] {
  return Object.values(destinationTypes).map(({ type, body }) => ({
    method,
    path: `${listPath}/${type}/:name`,
    summary: summaryOf(type),
    needs: 'create or update',
    params: z.object({ name: destinationName }),
    body,
  }));
}

async function saveAndRead(
  context: Context,
  caller: Caller,
  ref: DestinationParams,
  write: DestinationWrite,
) {
  const warnings = await saveDestination(context, caller, ref, write);
  context.queue.notify();
  return { data: await readShown(context, caller, ref), warnings };
}

const readShown = async (
  context: Context,
  caller: Caller,
  ref: DestinationParams,
  installation?: Installation,
) => ({
  ...(await readStoredDestination(context, await requireDestination(context, caller, ref), installation)),
  type: ref.shownType,
});
