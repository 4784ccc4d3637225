import { expect } from '@jest/globals';
import { Fault, type Json } from '@secrets/domain';
import fc from 'fast-check';
import type { ConnectedDestination, PutRequest } from '../driver/driver.ts';
import type { DriverHarness, FaultScenario } from './driver-harness.ts';
import { newValue, putRequest } from './put-request.ts';

/** What may disturb a call; undefined is nothing. */
const disturbances = [undefined, 'throttled', 'unavailable', 'reset', 'diesAfterActing'] as const;
type Disturbance = (typeof disturbances)[number];

/** An intent and the disturbance of its first attempt; without a value, a removal. */
interface Step {
  value: string | undefined;
  disturbance: Disturbance;
  /** The process dies after the success, so that what the put returned is not remembered. */
  forgets: boolean;
}

const steps = fc.array(
  fc.record<Step>({
    value: fc.option(fc.constantFrom('a', 'b', 'c'), { nil: undefined }),
    disturbance: fc.constantFrom(...disturbances),
    forgets: fc.boolean(),
  }),
  { minLength: 1, maxLength: 6 },
);

/**
 * Whatever is wanted one after the other, and whatever breaks: each intent, repeated as the runtime repeats it, ends
 * with the external secret as wanted.
 */
export async function checkSequences(harness: DriverHarness, connected: ConnectedDestination): Promise<void> {
  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => {
      let remote: Json | null = null;
      let request = putRequest(harness.freshName(), 'unused');
      for (const { value, disturbance, forgets } of sequence) {
        request = { ...request, ...newValue(request, value ?? ''), remote };
        const reached = await carryOut(harness, connected, request, { value, disturbance });
        expect((await harness.external(request.externalName))?.value).toBe(value);
        if (!forgets) remote = reached;
      }
    }),
    { numRuns: 30 },
  );
}

async function carryOut(
  harness: DriverHarness,
  connected: ConnectedDestination,
  request: PutRequest,
  { value, disturbance }: Pick<Step, 'value' | 'disturbance'>,
): Promise<Json | null> {
  if (disturbance) harness.inject(disturbance satisfies FaultScenario);
  for (let attempt = 0; attempt < 100; attempt += 1) {
    try {
      return await once(connected, request, value);
    } catch (error) {
      expect(error).toBeInstanceOf(Fault);
      expect(['throttled', 'not_ready', 'unavailable']).toContain((error as Fault).kind);
      await new Promise((resolve) => setTimeout(resolve, 2));
    } finally {
      harness.clear();
    }
  }
  throw new Error('the intent was never reached');
}

async function once(connected: ConnectedDestination, request: PutRequest, value: string | undefined) {
  const signal = AbortSignal.timeout(60_000);
  if (value !== undefined) return (await connected.put(request, signal)).remote;
  await connected.remove(request, signal);
  return null;
}
