import { expect, test } from '@jest/globals';
import { oldestPlans } from './reconcile.ts';

test('of several associations of one secret, the one that was left behind decides, wherever it stands', () => {
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
