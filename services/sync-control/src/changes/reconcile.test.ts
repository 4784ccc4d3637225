import { expect, test } from '@jest/globals';
import { compareRevisions } from './reconcile.ts';

const planned = (id: string, secretId: string, plannedRevision: number, isMarked = false, isHeld = true) => ({
  id,
  destinationId: 'd',
  secretId,
  plannedRevision,
  isMarked,
  isHeld,
});
const at = (secret_id: string, revision: number) => ({ secret_id, exists: true, revision });
const gone = (secret_id: string) => ({ secret_id, exists: false, revision: 0 });

test('opens a secret once if an association of it was planned from an earlier revision', () => {
  const page = [planned('1', 'a', 3), planned('2', 'a', 4), planned('3', 'a', 2), planned('4', 'b', 7)];
  expect(compareRevisions(page, [at('a', 4), at('b', 7)])).toEqual({
    gone: [],
    returned: [],
    changed: ['a'],
  });
});

test('does nothing about a secret that is older than the plan or whose state is unknown', () => {
  const page = [planned('1', 'a', 3), planned('2', 'unknown', 1)];
  expect(compareRevisions(page, [at('a', 2)])).toEqual({ gone: [], returned: [], changed: [] });
});

test('finds associations whose secret is gone, and those whose secret has come back', () => {
  const page = [planned('1', 'a', 1), planned('2', 'a', 1, true), planned('3', 'b', 1, true)];
  const { gone: missing, returned } = compareRevisions(page, [gone('a'), at('b', 1)]);
  expect([missing.map(({ id }) => id), returned.map(({ id }) => id)]).toEqual([['1'], ['3']]);
});

test('takes an association that nothing holds for one whose secret is gone, although the secret exists', () => {
  const page = [planned('1', 'a', 1, false, false), planned('2', 'a', 0, true, false)];
  const { gone: unheld, returned, changed } = compareRevisions(page, [at('a', 1)]);
  expect([unheld.map(({ id }) => id), returned, changed]).toEqual([['1'], [], []]);
});
