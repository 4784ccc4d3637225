import { cutToPage, type Endpoint, endpoint, pageQuery } from '@secrets/http';
import { z } from 'zod';
import type { Context } from '../../context.ts';
import {
  isBounded,
  maxCountedOfStatus,
  presentStatus,
  readDestinationStatuses,
  readSystemState,
} from '../../destinations/status/read-status.ts';
import {
  type DestinationOverviewRow,
  listDestinationOverviews,
} from '../../queries/destinations/destinations.ts';
import { whyHeld } from '../../queue/why-held.ts';

/** A page counts the entries of each destination, so it is short. */
const maxPage = 50;

/** The last destination of the previous page: `<type>/<name>`. */
const DestinationPosition = z
  .string()
  .max(4096)
  .regex(/^[^/]+\/[^/]+$/, 'must be <type>/<name>')
  .meta({ pattern: '^[^/\\u0000]+/[^/\\u0000]+$' })
  .transform((text) => {
    const [type = '', name = ''] = text.split('/');
    return { type, name };
  });

const path = '/sys/sync/status';

/** `sys/sync/status` (docs/conventions/sync-operation.md#operators-view). */
export const statusEndpoints = (context: Context): Endpoint[] => [readStatus(context)];

const readStatus = (context: Context) =>
  endpoint({
    method: 'get',
    path,
    summary: 'Read how the destinations of this namespace fare, and how full the queue is',
    query: pageQuery({ max: maxPage, after: DestinationPosition }),
    handle: async ({ query, caller, warn }) => {
      const { after = { type: '', name: '' }, limit } = query;
      const range = { after, limit: limit + 1 };
      const found = await listDestinationOverviews(context.db, caller.namespace.id, range);
      const page = cutToPage(found, limit, (last) => ({ after: keyOf(last) }), warn);
      const statuses = await readDestinationStatuses(context, page);
      if (statuses.some(isBounded))
        warn(`the numbers of a destination are counted up to ${maxCountedOfStatus}; there may be more`);
      const { disabled, installation, pending, queueCapacity } = await readSystemState(context);
      const held = whyHeld(installation);
      if (held !== undefined) warn(held);
      const last = page.at(-1);
      return {
        data: {
          disabled,
          held_because: installation.heldBecause,
          pending,
          queue_capacity: queueCapacity,
          destinations: Object.fromEntries(
            statuses.map((status) => [keyOf(status.destination), presentStatus(status)]),
          ),
          ...(found.length > limit && last !== undefined ? { next: keyOf(last) } : {}),
        },
      };
    },
  });

const keyOf = ({ type, name }: DestinationOverviewRow): string => `${type}/${name}`;
