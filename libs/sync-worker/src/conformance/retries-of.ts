import type { Fault } from '@secrets/domain';
import { nextAttempt } from '../limits/retry-policy.ts';

/** The shortest and the longest delay until an entry that failed with the fault is tried again, such as `1 s to 60 s`. */
export function retriesOf(fault: Fault): string {
  const [first, last] = [0, 30].map((attempts) => nextAttempt(fault, attempts, 0));
  return first == null || last == null ? 'never' : `${first} s to ${last} s`;
}
