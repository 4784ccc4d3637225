import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves as soon as `condition` holds. The test's timeout is the limit. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(5);
}
