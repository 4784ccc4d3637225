import type { FaultSpec } from '@secrets/sandbox';
import { useDriverHarness } from '@secrets/sync-worker/testing';
import { startHarness } from './sandbox-harness.ts';

/** Starts a harness for the tests of this file, with one connected destination, and stops it after them. */
export function useDriver(...options: Parameters<typeof startHarness>) {
  const driver = useDriverHarness({ start: () => startHarness(...options) });
  return Object.assign(driver, {
    /** Makes calls of this operation fail with this status and error code. */
    failWith: (operation: string, status: number, code: string, over: Partial<FaultSpec> = {}) =>
      void driver.harness.sandbox.cloudB.faults.add({
        effect: 'error',
        operation,
        status,
        code,
        ...over,
      } as FaultSpec),
  });
}
