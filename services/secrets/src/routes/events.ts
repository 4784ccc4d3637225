import { type Endpoint, endpoint, eventStreamType } from '@secrets/http';
import { z } from 'zod';
import type { SecretEventFeed } from '../changes/events/secret-event-feed.ts';
import { parseSubscription } from '../changes/events/subscription.ts';

/** `sys/events/subscribe` (docs/conventions/secrets.md#events). The gateway sends the stream to clients over a WebSocket. */
export const eventEndpoints = (feed: SecretEventFeed): Endpoint[] => [
  endpoint({
    method: 'get',
    path: '/sys/events/subscribe/*type',
    summary: 'Listen to changes of secrets, over a WebSocket',
    params: z.object({ type: z.string().max(200) }),
    query: z.object({
      json: z.string().optional(),
      filter: z.string().optional(),
      namespaces: z.union([z.string(), z.array(z.string())]).optional(),
    }),
    produces: eventStreamType,
    handle: async ({ params, query: { namespaces, ...query }, caller }) => {
      const subscription = parseSubscription(params.type, {
        ...query,
        namespaces: [namespaces ?? []].flat().join(','),
      });
      return { eventStream: await feed.open(caller, subscription) };
    },
  }),
];
