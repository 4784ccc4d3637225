import { expect, test } from '@jest/globals';
import { findDescription } from '@secrets/destinations';
import { possibleEntries, wantedEntries } from './wanted-entries.ts';

const destination = (granularity: string) => ({
  type: 'cloudA-sm',
  name: 'main',
  shape: { granularity, template: '' },
});
const secret = {
  mount: 'kv',
  accessor: 'kv_1',
  secretName: 'a',
  namespace: { id: 'root', path: '' },
  keys: ['user', '', 'pass'],
};
const subKeys = (granularity: string) =>
  wantedEntries(findDescription('cloudA-sm'), destination(granularity), secret, 'secrets').map(
    ({ subKey }) => subKey,
  );

test('leaves out a key that is the empty string: it would denote the whole secret', () => {
  expect(subKeys('secret-path')).toEqual(['']);
  expect(subKeys('secret-key')).toEqual(['user', 'pass']);
});

test('returns every key of a changed secret that can be named, and the reasons for the others', () => {
  const cloudASm = findDescription('cloudA-sm');
  const own = destination('secret-key');
  own.shape.template = 'x/{{ .SecretKey | lowercase }}';
  const named = { ...secret, keys: ['a', 'not good', 'B', 'b', '', '\0', '\ud800', 'c'] };
  const { entries, refused } = possibleEntries(cloudASm, own, named, { prefix: 'secrets' });
  expect(entries.map(({ subKey }) => subKey)).toEqual(['a', 'B', 'c']);
  expect(refused).toEqual([
    { key: 'not good', reason: expect.stringMatching(/^the external name "x\/not good" cannot be used: /) },
    { key: 'b', reason: 'keys B and b would both be named x/b' },
    { key: '', reason: expect.stringContaining('a key that is the empty string') },
    { key: '\0', reason: expect.stringContaining('a key that is no text') },
    { key: '\ud800', reason: expect.stringContaining('a key that is no text') },
  ]);
});
