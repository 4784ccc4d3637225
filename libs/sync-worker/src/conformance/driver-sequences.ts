import { expect } from '@jest/globals';
import type { Json } from '@secrets/domain';
import fc from 'fast-check';
import type { ConnectedDestination, PutRequest } from '../driver/driver.ts';
import type { DriverHarness, FaultScenario } from './driver-harness.ts';
import { newValue, putRequest } from './put-request.ts';
import { untilReady } from './until-ready.ts';

/** What may disturb a call; undefined for an undisturbed one. */
const disturbances = [undefined, 'throttled', 'unavailable', 'reset', 'diesAfterActing'] satisfies (
  | FaultScenario
  | undefined
)[];
type Disturbance = (typeof disturbances)[number];

/** An intent, which without a value is a removal, and the disturbance of its first attempt. */
interface Step {
  value: string | undefined;
  disturbance: Disturbance;
  /** The process dies after the success, so that what the put returned is not stored. */
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
 * Checks for random sequences of intents and disturbances that each intent, retried as the runtime retries it, ends with
 * the external secret in the requested state.
 */
export async function checkSequences(harness: DriverHarness, connected: ConnectedDestination): Promise<void> {
  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => {
      let remote: Json | null = null;
      let request = putRequest(harness.freshName(), 'unused');
      for (const { value, disturbance, forgets } of sequence) {
        request = { ...request, ...newValue(request, value ?? ''), remote };
        const stored = await carryOut(harness, connected, request, { value, disturbance });
        expect((await harness.external(request.externalName))?.value).toBe(value);
        if (!forgets) remote = stored;
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
  const signal = AbortSignal.timeout(60_000);
  if (disturbance) harness.inject(disturbance);
  const act = async () => {
    try {
      if (value !== undefined) return (await connected.put(request, signal)).remote;
      await connected.remove(request, signal);
      return null;
    } finally {
      harness.clear();
    }
  };
  return untilReady(act, ['throttled', 'not_ready', 'unavailable']);
}
