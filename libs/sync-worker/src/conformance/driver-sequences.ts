import { expect } from '@jest/globals';
import type { Json } from '@secrets/domain';
import fc from 'fast-check';
import type { ConnectedDestination, PutRequest } from '../driver/driver.ts';
import type { DriverHarness, FaultScenario } from './driver-harness.ts';
import { newValue, putRequest } from './put-request.ts';
import { untilReady } from './until-ready.ts';

/** Disturbances of a call in random sequences; undefined leaves it undisturbed. */
const disturbances = [undefined, 'throttled', 'unavailable', 'reset', 'diesAfterActing'] satisfies (
  | FaultScenario
  | undefined
)[];
type Disturbance = (typeof disturbances)[number];

/** An intent, which without a value is a removal. */
interface Intent {
  value: string | undefined;
}

/** An intent, and the disturbance of its first attempt. */
interface Step extends Intent {
  disturbance: Disturbance;
  /** The process dies after the success, so that what the put returned is not stored. */
  forgets: boolean;
}

/** An intent while reads lag behind. */
interface StaleStep extends Intent {
  verify: boolean;
}

const value = fc.option(fc.constantFrom('a', 'b', 'c'), { nil: undefined });
const steps = fc.array(
  fc.record<Step>({ value, disturbance: fc.constantFrom(...disturbances), forgets: fc.boolean() }),
  { minLength: 1, maxLength: 6 },
);
const staleSteps = fc.array(fc.record<StaleStep>({ value, verify: fc.boolean() }), {
  minLength: 3,
  maxLength: 6,
});

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
        if (disturbance) harness.inject(disturbance);
        const stored = await carryOut(connected, request, { value, ended: () => harness.clear() });
        expect((await harness.external(request.externalName))?.value).toBe(value);
        if (!forgets) remote = stored;
      }
    }),
    { numRuns: 30 },
  );
}

const staleLagMs = 100;

/** Checks the same while reads lag behind all the time. A removal forgets the entry, as the runtime does. */
export async function checkStaleSequences(
  harness: DriverHarness,
  connected: ConnectedDestination,
): Promise<void> {
  harness.lag(staleLagMs);
  await fc.assert(
    fc.asyncProperty(staleSteps, async (sequence) => {
      let remote: Json | null = null;
      let request = putRequest(harness.freshName(), 'unused');
      for (const { value, verify } of sequence) {
        request = { ...request, ...newValue(request, value ?? ''), remote, verify };
        remote = await carryOut(connected, request, { value, ended: () => {} });
        expect((await harness.external(request.externalName))?.value).toBe(value);
        if (value === undefined) request = putRequest(request.externalName, 'unused');
      }
    }),
    { numRuns: 15 },
  );
}

async function carryOut(
  connected: ConnectedDestination,
  request: PutRequest,
  { value, ended }: Intent & { ended(): void },
): Promise<Json | null> {
  const signal = AbortSignal.timeout(60_000);
  const act = async () => {
    try {
      if (value !== undefined) return (await connected.put(request, signal)).remote;
      await connected.remove(request, signal);
      return null;
    } finally {
      ended();
    }
  };
  return untilReady(act, ['throttled', 'not_ready', 'unavailable', 'conflict']);
}
