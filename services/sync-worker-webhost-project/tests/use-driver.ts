import type { WebhostOptions } from '@secrets/sandbox';
import { useDriverHarness } from '@secrets/sync-worker/testing';
import { startHarness, type WebhostHarness } from './sandbox-harness.ts';

/** Starts a harness for the tests of this file, with one connected destination, and stops it after them. */
export function useDriver(webhost: WebhostOptions = {}, project?: string) {
  const driver = useDriverHarness({
    start: () => startHarness(webhost, project === undefined ? {} : { project }),
  });
  return Object.assign(driver, {
    /** Connects a destination that is closed after the tests. */
    connectWith: async (...over: Parameters<WebhostHarness['connectWith']>) =>
      driver.keep(await driver.harness.connectWith(...over)),
    /** Connects the destination with other environments. */
    forEnvironments: (...environments: string[]) => driver.connect({ deployment_environments: environments }),
    records: (name: string) => driver.harness.records(name),
    /** Makes calls of this operation fail with this error code. */
    failWith: (operation: string, code: string, status = 400) =>
      void driver.harness.sandbox.webhost.faults.add({ effect: 'error', operation, code, status }),
  });
}
