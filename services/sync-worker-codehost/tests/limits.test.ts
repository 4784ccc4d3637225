import { describe, expect, test } from '@jest/globals';
import type { CodehostOptions } from '@secrets/sandbox';
import { putRequest } from '@secrets/sync-worker/testing';
import { startHarness } from './sandbox-harness.ts';

const signal = () => AbortSignal.timeout(60_000);
/** Ten minutes past the hour, by the clock of the code host. */
const clock = () => Date.UTC(2026, 0, 1, 12, 10);

/** Returns the fault of the second of two first puts. */
async function secondPut(limits: NonNullable<CodehostOptions['limits']>): Promise<unknown> {
  const harness = await startHarness({ limits }, { clock });
  const connected = await harness.connect();
  await connected.put(putRequest('FIRST', 'x'), signal());
  const outcome = await connected.put(putRequest('SECOND', 'x'), signal()).catch((error: unknown) => error);
  await connected.close();
  await harness.stop();
  return outcome;
}

describe('codehost 5: a limit of the code host', () => {
  test('of an hour throttles until it is reset', async () => {
    expect(await secondPut({ perHour: 6 })).toMatchObject({
      kind: 'throttled',
      message: 'get /repos/acme/web: too many requests (RateLimited)',
      retryAfterSeconds: 50 * 60,
    });
  });

  test('of a minute throttles for the time that it gives', async () => {
    expect(await secondPut({ pointsPerMinute: 12 })).toMatchObject({
      kind: 'throttled',
      retryAfterSeconds: 60,
    });
  });

  test('that gives no time throttles for a minute', async () => {
    const harness = await startHarness();
    const connected = await harness.connect();
    harness.sandbox.codehost.faults.add({ effect: 'throttle' });
    await expect(connected.put(putRequest('ONE', 'x'), signal())).rejects.toMatchObject({
      kind: 'throttled',
      retryAfterSeconds: 60,
    });
    await connected.close();
    await harness.stop();
  });
});
