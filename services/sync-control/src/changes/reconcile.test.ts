import { expect, test } from '@jest/globals';
import { oldestPlans } from './reconcile.ts';

test('takes the oldest revision of several associations of a secret, in any order', () => {
  const plan = (secretId: string, plannedRevision: number) => ({ secretId, plannedRevision });
  const page = [plan('a', 3), plan('b', 7), plan('a', 5), plan('b', 6)];
  for (const order of [page, page.toReversed()]) {
    expect(oldestPlans(order)).toEqual(
      new Map([
        ['a', 3],
        ['b', 6],
      ]),
    );
  }
});
