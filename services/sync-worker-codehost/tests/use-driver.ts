import type { CodehostOptions } from '@secrets/sandbox';
import { useDriverHarness } from '@secrets/sync-worker/testing';
import { startHarness } from './sandbox-harness.ts';

/** Starts a harness for the tests of this file, with one connected destination, and stops it after them. */
export function useDriver(options: CodehostOptions = {}, settings: Record<string, unknown> = {}) {
  const driver = useDriverHarness({ start: () => startHarness(options), settings });
  return Object.assign(driver, {
    /** Makes calls of these operations fail with this status. */
    failWith: (operation: string | string[], status: number, message = 'canary') =>
      void driver.harness.sandbox.codehost.faults.add({
        effect: 'error',
        operation,
        status,
        code: 'X',
        message,
      }),
  });
}
