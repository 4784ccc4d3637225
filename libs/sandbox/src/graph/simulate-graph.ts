import type { Directory } from '../directory/directory.ts';
import { FaultInjector } from '../faults/fault-injector.ts';
import { CallLog } from '../simulation/call-log.ts';
import type { Simulation } from '../simulation/simulation.ts';
import { graphRoutes } from './graph-routes.ts';

const NAME = 'graph';

/**
 * Simulates what Graph offers for the passwords of the directory's application. The directory keeps them. Operations for faults are
 * `application.ListApplication`, `application.GetApplication`, `application.addPassword` and `application.removePassword`.
 */
export function simulateGraph({ now, directory }: { now: () => number; directory: Directory }): Simulation {
  const faults = new FaultInjector(now);
  const log = new CallLog();
  return {
    name: NAME,
    path: '/graph',
    routes: graphRoutes({ calls: { store: NAME, faults, calls: log, now }, directory }),
    faults,
    calls: () => log.list(),
    reset: () => {
      faults.clear();
      log.clear();
    },
    replay: () => undefined,
    snapshot: () => [],
  };
}
