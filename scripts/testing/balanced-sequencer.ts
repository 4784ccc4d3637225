import TestSequencer from '@jest/test-sequencer';
import { secondsOf } from './recorded-seconds.ts';

type Tests = Parameters<TestSequencer['sort']>[0];

/**
 * Orders test files so that half of the workers' time goes to the slow files, the slowest first, and half to the quick
 * ones, until they meet. No slow file is left for the end, and systems of many processes seldom share the cores.
 */
export default class BalancedSequencer extends TestSequencer {
  override sort(tests: Tests): Tests {
    const left = [...tests].sort((one, other) => secondsOf(other.path) - secondsOf(one.path));
    const sorted: Tests = [];
    let slowAhead = 0; // by how many seconds
    while (left.length > 0) {
      const isSlow = slowAhead <= 0;
      const next = isSlow ? left.shift()! : left.pop()!;
      slowAhead += isSlow ? secondsOf(next.path) : -secondsOf(next.path);
      sorted.push(next);
    }
    return sorted;
  }
}
