import { type Endpoint, endpoint, eventStreamType } from '@secrets/http';
import { z } from 'zod';
import type { Context } from '../context.ts';
import type { EventFeed } from '../events/event-feed.ts';
import { parsePosition, positionPattern } from '../events/event-position.ts';
import { readOutcomeMinutes } from '../queries/event-progress.ts';

const After = z
  .string()
  .regex(positionPattern, 'must be the ID of an event')
  .meta({ pattern: positionPattern.source });

/** `sys/sync/events` and `sys/sync/throughput` (docs/conventions/sync-operation.md#live-events). */
export const eventEndpoints = (context: Context, events: EventFeed): Endpoint[] => [
  followEvents(events),
  readThroughput(context),
];

const followEvents = (events: EventFeed) =>
  endpoint({
    method: 'get',
    path: '/sys/sync/events',
    summary: 'Follow what happens in this namespace, as server-sent events',
    query: z.object({ after: After.transform(parsePosition).optional() }),
    produces: eventStreamType,
    handle: async ({ query, caller }) => ({ eventStream: await events.open(caller, query.after) }),
  });

/** An hour, and the minute that has begun. */
const shownMinutes = 61;

const readThroughput = (context: Context) =>
  endpoint({
    method: 'get',
    path: '/sys/sync/throughput',
    summary: 'Read how many attempts succeeded and failed in this namespace in each minute of the last hour',
    handle: async ({ caller }) => {
      const { from, rows } = await readOutcomeMinutes(context.db, caller.namespace.id, shownMinutes);
      const byType = Map.groupBy(rows, ({ destinationType }) => destinationType);
      const types = [...byType].map(([type, minutes]) => {
        const counts = (of: 'succeeded' | 'failed') => {
          const places = new Map(minutes.map((minute) => [minute.place, minute[of]]));
          return Array.from({ length: shownMinutes }, (_, place) => places.get(place) ?? 0);
        };
        return [type, { succeeded: counts('succeeded'), failed: counts('failed') }];
      });
      return { data: { from: from.toISOString(), minutes: shownMinutes, types: Object.fromEntries(types) } };
    },
  });
