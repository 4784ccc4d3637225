import { expect, test } from '@jest/globals';
import type { Operation } from '../../load/operation.ts';
import { operation } from './histories.ts';
import { checkVersions } from './versions.ts';

type Times = [number, number];

const write = (value: string, version: number | undefined, times: Times, rest: Partial<Operation> = {}) =>
  operation({ act: 'write', key: 's', value, ...(version === undefined ? {} : { version }) }, times, rest);
const read = (version: number, value: string | undefined, times: Times) =>
  operation({ act: 'read', key: 's', token: 't', version, ...(value === undefined ? {} : { value }) }, times);
const check = (history: Operation[], ...values: string[]) =>
  checkVersions(history, new Map([['s', new Map(values.map((value, at) => [at + 1, value]))]]));

test('accepts writes, also concurrent and unknown ones, and reads of what was there', () => {
  const history = [
    read(0, undefined, [0, 1]),
    write('a', 1, [1, 5]),
    write('b', 2, [2, 3]),
    write('c', undefined, [4, 6], { outcome: 'unknown' }),
    read(2, 'b', [4, 7]),
    write('d', undefined, [8, 9], { outcome: 'failed' }),
    read(3, 'c', [10, 11]),
  ];
  expect(check(history, 'a', 'b', 'c')).toEqual([]);
});

test('an acknowledged write that is gone, or has another value, is found', () => {
  expect(check([write('a', 1, [0, 1]), write('b', 2, [2, 3])], 'a')).toContain(
    's: the acknowledged version 2 is lost',
  );
  expect(check([write('a', 1, [0, 1])], 'x')).toContain('s: the acknowledged version 1 has another value');
});

test('two writes that were acknowledged with one version are found', () => {
  expect(check([write('a', 1, [0, 1]), write('b', 1, [0, 1])], 'a')).not.toEqual([]);
});

test('a version that nobody wrote, or that comes from a refused write or twice from one, is found', () => {
  expect(check([], 'a')).toContain('s: nobody wrote version 1');
  expect(check([write('a', undefined, [0, 1], { outcome: 'failed' })], 'a')).toContain(
    's: version 1 comes from a refused write',
  );
  expect(check([write('a', undefined, [0, 1], { outcome: 'unknown' })], 'a', 'a')).toContain(
    's: versions 1 and 2 come from one write',
  );
});

test('a write that ignores the version that its writer expected is found', () => {
  const history = [write('a', 1, [0, 1]), write('b', 2, [2, 3]), write('c', 3, [4, 5], { cas: 1 } as never)];
  expect(check(history, 'a', 'b', 'c')).toEqual([
    's: version 3 was written although the writer expected version 1',
  ]);
});

test('a read of an older version than one that was seen before it began is found', () => {
  const history = [write('a', 1, [0, 1]), write('b', 2, [2, 3]), read(1, 'a', [4, 5])];
  expect(check(history, 'a', 'b')).toEqual(['s: a read returned version 1 after version 2 had been seen']);
});

test('a write that takes its place before one that had ended is found', () => {
  const history = [write('a', 2, [0, 1]), write('b', 1, [2, 3])];
  expect(check(history, 'b', 'a')).toEqual(['s: a write created version 1 after version 2 had been seen']);
});

test('a read of a value that its version does not have is found', () => {
  expect(check([write('a', 1, [0, 1]), read(1, 'z', [2, 3])], 'a')).toEqual([
    's: version 1 was read with another value',
  ]);
});

test('a version in the middle that is gone is found, although its write is unknown', () => {
  const final = new Map([['s', new Map([[2, 'b']])]]);
  expect(checkVersions([write('b', 2, [0, 1])], final)).toContain('s: 1 versions are left of 2');
});
