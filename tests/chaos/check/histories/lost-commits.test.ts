import { expect, test } from '@jest/globals';
import { operation } from './histories.ts';
import { survived } from './lost-commits.ts';
import { checkTokens } from './tokens.ts';
import { checkVersions } from './versions.ts';

const lost = { from: 100, until: 200 };
const write = (value: string, at: [number, number], version: number) =>
  operation({ act: 'write', key: 's', value, version }, at);

test('a write that was acknowledged while commits were lost may be lost, and its version may be written again', () => {
  const history = [write('a', [10, 20], 1), write('b', [110, 120], 2), write('c', [210, 220], 2)];
  const final = new Map([
    ['s', new Map(Object.entries({ 1: 'a', 2: 'c' }).map(([version, value]) => [Number(version), value]))],
  ]);
  expect(checkVersions(history, final)).not.toEqual([]);
  expect(checkVersions(survived(history, lost), final)).toEqual([]);
});

test('a write that was acknowledged before must be there', () => {
  const history = survived([write('a', [10, 99], 1)], lost);
  expect(checkVersions(history, new Map())).toEqual(['s: the acknowledged version 1 is lost']);
});

test('a token whose revocation may be lost may be accepted, others may not', () => {
  const revoke = (token: string, at: [number, number]) => operation({ act: 'revoke', token }, at);
  const use = (token: string) => operation({ act: 'read', key: 's', token }, [300, 310]);
  const history = [revoke('a', [110, 120]), revoke('b', [210, 220]), use('a'), use('b')];
  expect(checkTokens(survived(history, lost))).toHaveLength(1);
});
