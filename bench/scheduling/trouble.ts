import { setTimeout as sleep } from 'node:timers/promises';
import { type BusyDestination, busyNames, createBusy, type System } from './busy-destination.ts';
import { addFault, countCalls, type StoreFault } from './store-faults.ts';

/** Destinations that are slow, down or silent while entries of theirs are queued. */
export interface Trouble {
  name: string;
  ofSameAccount: boolean;
  fault: Pick<StoreFault, 'effect' | 'ms'>;
  destinations: number;
  /** The target: how many times its delay alone a write to another destination may take. */
  maxRatio: number;
}

const kinds = [
  { what: 'one destination is slow (60 ms a call)', effect: 'slow', ms: 60, destinations: 1, maxRatio: 3 },
  { what: 'one destination is down', effect: 'reset', destinations: 1, maxRatio: 2 },
  { what: 'destinations never answer', effect: 'silence', destinations: 10, maxRatio: 2 },
] as const;

/** Returns each kind of trouble, in another account and in the account of the quiet destination. */
export const troubles = ({ silent }: { silent: number }): Trouble[] =>
  kinds.flatMap(({ what, effect, maxRatio, ...kind }) =>
    [false, true].map((ofSameAccount) => {
      const destinations = effect === 'silence' ? silent : kind.destinations;
      const count = effect === 'silence' ? `${silent} ` : '';
      const account = ofSameAccount ? 'same account' : 'other account';
      const fault = 'ms' in kind ? { effect, ms: kind.ms } : { effect };
      return { name: `${count}${what}, ${account}`, ofSameAccount, fault, destinations, maxRatio };
    }),
  );

/** Trouble that has begun. */
export interface RunningTrouble {
  destinations: BusyDestination[];
  /** Removes the fault. The queues remain. */
  end(): Promise<void>;
}

/** Lets calls fail, creates the destinations, fills their queues with `queue`, and resolves when calls have been made. */
export async function startTrouble(
  system: System,
  { fault, destinations: count, ofSameAccount }: Trouble,
  queue: (destination: BusyDestination) => Promise<void>,
): Promise<RunningTrouble> {
  const called = await countCalls(system.sandbox, { name: busyNames });
  const end = await addFault(system.sandbox, { ...fault, name: busyNames });
  const destinations: BusyDestination[] = [];
  for (let at = 0; at < count; at += 1) {
    const destination = await createBusy(system, { ofSameAccount });
    destinations.push(destination);
    await queue(destination);
  }
  while ((await called()) === 0) await sleep(20);
  await sleep(2_000); // windows grow, pauses begin, hanging calls are found to be slow
  return { destinations, end };
}
