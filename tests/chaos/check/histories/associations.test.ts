import { expect, test } from '@jest/globals';
import type { Operation, Outcome } from '../../load/operation.ts';
import { checkAssociations } from './associations.ts';
import { operation } from './histories.ts';

const change = (act: 'set' | 'remove', at: number, outcome: Outcome = 'ok') =>
  operation({ act, destination: 'd', key: 's' }, [at, at + 1], { outcome });
const whole = (act: 'create' | 'purge', at: number, outcome: Outcome = 'ok') =>
  operation({ act, destination: 'd' }, [at, at + 1], { outcome });
const check = (history: Operation[], associations: string[], destinations: string[] = []) =>
  checkAssociations(history, history.some(({ act }) => act === 'create') ? ['d'] : [], {
    associations: new Set(associations),
    destinations: new Set(destinations),
  });

test('the last acknowledged request decides', () => {
  expect(check([change('remove', 1), change('set', 3)], ['d s'])).toEqual([]);
  expect(check([change('set', 1), change('remove', 3)], [])).toEqual([]);
});

test('an acknowledged set that is lost, and a remove without effect, are found', () => {
  expect(check([change('remove', 1), change('set', 3)], [])).toEqual([
    'the association of s with d does not exist, although it was set',
  ]);
  expect(check([change('set', 1), change('remove', 3)], ['d s'])).toEqual([
    'the association of s with d exists, although it was removed',
  ]);
});

test('a refused request has no effect, and an unknown one may have', () => {
  expect(check([change('set', 1), change('remove', 3, 'failed')], [])).not.toEqual([]);
  const unknown = [change('set', 1), change('remove', 3, 'unknown')];
  expect([check(unknown, []), check(unknown, ['d s'])]).toEqual([[], []]);
});

test('a purge removes the associations and the destination', () => {
  const history = [whole('create', 1), change('set', 3), whole('purge', 5)];
  expect(check(history, [])).toEqual([]);
  expect(check(history, ['d s'], ['d'])).toHaveLength(2);
});

test('a destination that was created again, and associated with a secret, exists', () => {
  const history = [whole('create', 1), whole('purge', 3), whole('create', 5), change('set', 7)];
  expect(check(history, ['d s'], ['d'])).toEqual([]);
  expect(check(history, ['d s'])).toEqual(['the destination d does not exist, although it was set']);
});

test('one whose creation during its purge was refused is gone', () => {
  const history = [whole('create', 1), whole('purge', 3), whole('create', 5, 'failed')];
  expect([check(history, [], ['d']), check(history, [])]).toEqual([[expect.stringContaining('exists')], []]);
});
