import { notFound } from '@secrets/domain';
import { type Endpoint, endpoint, flag } from '@secrets/http';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { presentStoredDestination } from '../destinations/present-stored-destination.ts';
import { previewReplan, type ReplanPreview } from '../destinations/replan.ts';
import { startReplan } from '../destinations/start-replan.ts';
import { beforeFirst } from '../queries/association-pages.ts';
import type { AssociationRow } from '../queries/associations.ts';
import { findDestination } from '../queries/destinations.ts';
import { DestinationRef } from './fields.ts';

/** A changed template or granularity for existing associations (docs/conventions.md#54-names). */
export const replanEndpoints = (context: Context): Endpoint[] => [replan(context)];

const maxPreviewed = 500;

const Replan = z.object({
  dry_run: flag.default(false),
  after: z.uuid().optional().describe('dry_run: the `next` of the previous page'),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(maxPreviewed)
    .default(100)
    .describe('dry_run: number of associations'),
});

const replan = (context: Context) =>
  endpoint({
    method: 'post',
    path: '/sys/sync/destinations/:type/:name/replan',
    summary:
      'Apply a changed template or granularity to all associations; with dry_run, only show what would change',
    params: DestinationRef,
    body: Replan,
    handle: async ({ params, body: { dry_run: isDryRun, after, limit }, caller }) => {
      const key = { namespaceId: caller.namespace.id, ...params };
      if (!isDryRun) await startReplan(context, caller, params);
      const destination = await findDestination(context.db, key);
      if (destination === undefined) throw notFound();
      if (!isDryRun) return { data: await presentStoredDestination(context, destination) };
      const page = { after: after ?? beforeFirst, limit };
      return { data: presentPreview(await previewReplan(context, destination.id, page)) };
    },
  });

const presentPreview = ({ changes, refusals, next }: ReplanPreview) => ({
  changes: Object.fromEntries(
    changes.map(({ association, plan: { create, remove } }) => [
      keyOf(association),
      { create: create.map(presentName), remove: remove.map(presentName) },
    ]),
  ),
  refused: Object.fromEntries(refusals.map(({ association, reason }) => [keyOf(association), reason])),
  ...(next === undefined ? {} : { next }),
});

const keyOf = ({ accessor, secretName }: AssociationRow): string => `${accessor}/${secretName}`;

const presentName = ({ subKey, externalName }: { subKey: string; externalName: string }) => ({
  sub_key: subKey,
  external_name: externalName,
});
