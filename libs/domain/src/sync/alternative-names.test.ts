import { expect, test } from '@jest/globals';
import { destinationType, pathNames } from './alternative-names.ts';

test.each([
  ['sys/sync/destinations/gh', 'sys/sync/destinations/codehost'],
  ['sys/sync/destinations/aws-sm/x/associations/set', 'sys/sync/destinations/cloudA-sm/x/associations/set'],
  ['sys/sync/destinations/azure-kv/gh', 'sys/sync/destinations/cloudB-kv/gh'],
  ['sys/sync/destinations/gcp-sm/x', 'sys/sync/destinations/cloudC-sm/x'],
  ['sys/sync/destinations/vercel-project/x', 'sys/sync/destinations/webhost-project/x'],
  ['sys/sync/github-apps', 'sys/sync/codehost-apps'],
  ['sys/sync/github-apps/gh', 'sys/sync/codehost-apps/gh'],
])('%s and %s are names of the same path', (alternative, path) => {
  expect(pathNames(alternative)).toEqual({ path, alternative });
  expect(pathNames(path)).toEqual({ path, alternative });
});

test.each([
  'kv/data/sys/sync/destinations/gh/x',
  'sys/sync/destinations',
  'sys/sync/destinations/github-apps/x',
  'sys/sync/destinations/GH/x',
  'sys/sync/destinations/constructor/x',
  'sys/sync/associations/gh/x',
  'sys/sync/gh/x',
  'sys/sync',
  'sys/github-apps',
])('%s has no other name', (path) => {
  expect(pathNames(path)).toEqual({ path, alternative: undefined });
});

test('a destination type is known by either name', () => {
  expect(['aws-sm', 'cloudA-sm', 'other', 'toString'].map(destinationType)).toEqual([
    ...['cloudA-sm', 'cloudA-sm', 'other', 'toString'],
  ]);
});
