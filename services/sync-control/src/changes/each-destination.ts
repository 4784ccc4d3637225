import { logFailure } from '@secrets/telemetry';
import type { FollowContext } from './on-secret-change.ts';

/**
 * Runs `work` for each of these destinations, one after the other. One that fails is logged and counted, and does not hold up the
 * others. The caller must find the failed work again later.
 */
export async function forEachDestination<Item>(
  { log, failures }: Pick<FollowContext, 'log' | 'failures'>,
  destinations: Iterable<readonly [destinationId: string, item: Item]>,
  work: (destinationId: string, item: Item) => Promise<void>,
): Promise<void> {
  for (const [destinationId, item] of destinations) {
    try {
      await work(destinationId, item);
    } catch (error) {
      failures?.inc();
      const message = 'the changes of a destination could not be followed; will be retried';
      logFailure(log, { error, destinationId }, message, 'error');
    }
  }
}
