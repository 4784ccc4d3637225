import { useDriverHarness } from '@secrets/sync-worker/testing';
import { startHarness } from './sandbox-harness.ts';

/** Starts a harness for the tests of this file, with one connected destination, and stops it after them. */
export function useDriver() {
  const driver = useDriverHarness({ start: () => startHarness() });
  return Object.assign(driver, {
    /** Makes calls of this operation fail with this status. */
    failWith: (operation: string, code: string, status: number) =>
      void driver.harness.sandbox.cloudC.faults.add({ effect: 'error', operation, code, status }),
  });
}
