import { expect, test } from '@jest/globals';
import { operation } from '../../check/histories/histories.ts';
import { differencesOf, foreignIn } from './foreign-secrets.ts';
import { countLost } from './measure-loss.ts';

const window = { from: 100, until: 200 };
const write = (value: string, at: [number, number], version: number) =>
  operation({ act: 'write', key: 's', value, version }, at);
const set = (key: string, at: [number, number]) => operation({ act: 'set', destination: 'd', key }, at);

test('only what was acknowledged in the lost time counts, and what the standby does not know of it is lost', () => {
  const history = [
    write('a', [10, 20], 1),
    write('b', [110, 120], 2),
    write('c', [130, 140], 3),
    { ...write('d', [150, 160], 4), outcome: 'unknown' as const },
    set('s', [110, 120]),
    set('t', [150, 160]),
  ];
  const versions = new Map([
    [
      's',
      new Map([
        [1, 'a'],
        [2, 'b'],
      ]),
    ],
  ]);
  expect(countLost(history, window, { versions, lostSets: [{ destination: 'd', key: 't' }] })).toEqual({
    acknowledged: { writes: 2, sets: 2 },
    lost: { writes: 1, sets: 1 },
  });
});

test('an external secret of somebody else that is changed, gone or new is a difference, and others are not looked at', () => {
  const before = new Map([
    ['cloudA-sm t0theirsxs1', 'theirs'],
    ['cloudB-kv t0theirsxs1', 'theirs'],
    ['codehost T0THEIRSXS1', 'theirs'],
    ['cloudA-sm t0stillxs1', 'ours'],
  ]);
  const after = new Map([
    ['cloudA-sm t0theirsxs1', 'ours'],
    ['codehost T0THEIRSXS1', 'theirs'],
    ['cloudC-sm t0theirsxs2', 'new'],
  ]);
  expect(differencesOf(foreignIn(before), foreignIn(after))).toEqual([
    'cloudA-sm t0theirsxs1',
    'cloudB-kv t0theirsxs1',
    'cloudC-sm t0theirsxs2',
  ]);
});
