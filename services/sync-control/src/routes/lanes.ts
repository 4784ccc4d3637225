import { cutToPage, type Endpoint, endpoint, pageQuery } from '@secrets/http';
import { type Budget, refill } from '@secrets/scheduler';
import { listLanes, type NamespaceLane } from '@secrets/sync-entries';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { presentLaneFlow } from '../destinations/status/present-pause.ts';
import { beforeFirst } from '../queries/associations/association-pages.ts';

/** Maximum number of destinations of a lane that are named. */
const maxNames = 100;

const path = '/sys/sync/lanes';

/** `sys/sync/lanes` (docs/conventions/sync-operation.md#operators-view). */
export const laneEndpoints = (context: Context): Endpoint[] => [readLanes(context)];

const readLanes = (context: Context) =>
  endpoint({
    method: 'get',
    path,
    summary: 'Read how the accounts that the destinations of this namespace use fare',
    query: pageQuery({ max: 100, after: z.uuid() }),
    handle: async ({ query, caller, warn }) => {
      const { after = beforeFirst, limit } = query;
      const range = { after, limit: limit + 1, maxNames: maxNames + 1 };
      const found = await listLanes(context.db, caller.namespace.id, range);
      const page = cutToPage(found, limit, ({ id }) => ({ after: id }), warn);
      for (const { id, destinationNames } of page)
        if (destinationNames.length > maxNames)
          warn(`lane ${id} has more than ${maxNames} destinations; the others are not named`);
      const next = found.length > limit ? { next: page.at(-1)?.id } : {};
      return { data: { lanes: page.map((lane) => presentLane(lane, context.queue.budgets)), ...next } };
    },
  });

const presentLane = (
  { id, destinationType, lane, bucket, nowMs, destinationNames }: NamespaceLane,
  budgets: Context['queue']['budgets'],
) => ({
  id,
  type: destinationType,
  destinations: destinationNames.slice(0, maxNames).map((name) => `${destinationType}/${name}`),
  ...presentLaneFlow(lane, nowMs),
  budget: presentBudget(budgets[destinationType], bucket, nowMs),
});

/** The budget of a lane and what is left of it; null for an unknown type, whose entries are never sent. */
function presentBudget(budget: Budget | undefined, bucket: NamespaceLane['bucket'], nowMs: number) {
  if (budget === undefined) return null;
  return {
    per_second: budget.perSecond,
    burst: budget.burst,
    max_outstanding: budget.maxOutstanding ?? null,
    calls_left: Math.floor(refill(bucket, budget, nowMs).tokens),
  };
}
