import type { Directory } from '../directory/directory.ts';
import { observeCalls } from '../simulation/observe-calls.ts';
import type { Simulation } from '../simulation/simulation.ts';
import { graphRoutes } from './graph-routes.ts';

const NAME = 'graph';

/**
 * Simulates what Graph offers for the passwords of the directory's application. The directory keeps them. Operations
 * for faults are `application.ListApplication`, `application.GetApplication`, `application.addPassword` and
 * `application.removePassword`.
 */
export function simulateGraph({ now, directory }: { now: () => number; directory: Directory }): Simulation {
  const calls = observeCalls(NAME, now);
  return {
    ...calls.members,
    path: '/graph',
    routes: graphRoutes({ calls: calls.context, directory }),
    reset: () => {
      calls.clear();
    },
    replay: () => undefined,
    snapshot: () => [],
  };
}
