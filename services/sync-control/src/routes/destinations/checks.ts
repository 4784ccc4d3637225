import { type Endpoint, endpoint } from '@secrets/http';
import type { Context } from '../../context.ts';
import { checkDestination } from '../../destinations/calls/check-destination.ts';
import { DestinationParams } from '../fields.ts';

const path = '/sys/sync/destinations/:type/:name/check';

/** Whether the credentials of a destination work (docs/conventions/sync-operation.md#check-and-plan). */
export const checkEndpoints = (context: Context): Endpoint[] => [checkOneDestination(context)];

const checkOneDestination = (context: Context) =>
  endpoint({
    method: 'post',
    path,
    summary:
      'Try the credentials and permissions of a destination with an external secret that is removed again',
    params: DestinationParams,
    handle: async ({ params, caller }) => {
      const steps = await checkDestination(context, caller, params);
      return { data: { ok: steps.every(({ result }) => result === 'ok'), steps } };
    },
  });
