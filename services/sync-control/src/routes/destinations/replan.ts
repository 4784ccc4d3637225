import { type Endpoint, endpoint, flag, pageLimit } from '@secrets/http';
import { z } from 'zod';
import type { Context } from '../../context.ts';
import { previewReplan, type ReplanPreview } from '../../destinations/background/replan.ts';
import { startReplan } from '../../destinations/background/start-replan.ts';
import { readStoredDestination } from '../../destinations/read-stored-destination.ts';
import { requireDestination } from '../../destinations/require-destination.ts';
import { beforeFirst } from '../../queries/associations/association-pages.ts';
import type { AssociationRow } from '../../queries/associations/associations.ts';
import { DestinationParams } from '../fields.ts';

const maxPreviewed = 500;

const Replan = z.object({
  dry_run: flag.default(false),
  after: z.uuid().optional().describe('dry_run: the `next` of the previous page'),
  limit: pageLimit(maxPreviewed, 100).describe('dry_run: number of associations'),
});

const path = '/sys/sync/destinations/:type/:name/replan';

/** A changed template or granularity for existing associations (docs/conventions/sync.md#names). */
export const replanEndpoints = (context: Context): Endpoint[] => [replanDestination(context)];

const replanDestination = (context: Context) =>
  endpoint({
    method: 'post',
    path,
    summary:
      'Apply a changed template or granularity to all associations; with dry_run, only show what would change',
    params: DestinationParams,
    body: Replan,
    handle: async ({ params, body, caller }) => {
      const { dry_run: isDryRun, after = beforeFirst, limit } = body;
      if (!isDryRun) await startReplan(context, caller, params);
      const destination = await requireDestination(context, caller, params);
      if (!isDryRun)
        return { data: { ...(await readStoredDestination(context, destination)), type: params.shownType } };
      return { data: presentPreview(await previewReplan(context, destination.id, { after, limit })) };
    },
  });

const presentPreview = ({ changes, refusals, next }: ReplanPreview) => ({
  changes: Object.fromEntries(
    changes.map(({ association, plan: { create, handOver, remove } }) => [
      keyOf(association),
      {
        create: create.map(presentName),
        ...(handOver.length === 0 ? {} : { hand_over: handOver.map(presentName) }),
        remove: remove.map(presentName),
      },
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
