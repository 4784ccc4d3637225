import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from '@jest/globals';
import {
  type Distributed,
  type DistributedOptions,
  ownServers,
  startDistributed,
} from '../harness/distributed.ts';
import { isLongRun } from '../harness/run-size.ts';
import { type SandboxControl, sandboxControl } from '../harness/sandbox-control.ts';

/** The system of one test file. */
export interface Suite {
  readonly system: Distributed;
  readonly sandbox: SandboxControl;
  /** Adds a line to the report that is printed after the last test. */
  note(line: string): void;
}

/**
 * Describes tests that share one distributed system. They are skipped, with the reason, on a machine without its servers.
 * Each test starts without faults, and fails if a process ends that it did not end. With `isLong`, only long runs execute them.
 */
export async function describeDistributed(
  title: string,
  define: (suite: Suite) => void,
  { isLong = false, ...options }: DistributedOptions & { isLong?: boolean } = {},
): Promise<void> {
  if (isLong && !isLongRun) return describe.skip(title, () => define({} as Suite));
  const servers = await ownServers(options);
  if (typeof servers === 'string') {
    console.warn(`not run: ${title}: ${servers}`);
    return describe.skip(title, () => define({} as Suite));
  }
  let system: Distributed;
  const report: string[] = [];
  describe(title, () => {
    beforeAll(async () => {
      system = await startDistributed(servers, options);
    });
    afterAll(async () => {
      await system?.stop();
      if (report.length > 0) console.log(report.join('\n'));
    });
    beforeEach(() => sandboxControl(system.sandboxUrl).clearFaults());
    afterEach(() => {
      const ended = Object.values(system.processes).filter(({ unexpectedEnds }) => unexpectedEnds.length > 0);
      expect(ended.map(({ name, unexpectedEnds }) => ({ name, unexpectedEnds }))).toEqual([]);
    });
    define({
      get system() {
        return system;
      },
      get sandbox() {
        return sandboxControl(system.sandboxUrl);
      },
      note: (line) => void report.push(line),
    });
  });
}
