import { FaultInjector } from '../faults/fault-injector.ts';
import { CallLog } from './call-log.ts';

/** Returns what every simulated service has for its calls: their log, and the faults that they meet. */
export function observeCalls(name: string, now: () => number) {
  const faults = new FaultInjector(now);
  const log = new CallLog();
  return {
    /** For `serveCall`. */
    context: { store: name, faults, calls: log, now },
    /** The members of a simulation that are about its calls. */
    members: { name, faults, calls: () => log.list() },
    clear: () => {
      faults.clear();
      log.clear();
    },
  };
}
