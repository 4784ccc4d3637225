import { expect, test } from '@jest/globals';
import type { Capability } from '@secrets/caller';
import { compilePolicies } from '../matching/compile-policies.ts';
import { rootPolicy } from './built-in-policies.ts';
import { grantsBelow } from './grants-below.ts';

const policies = (paths: Record<string, Capability[]>) =>
  compilePolicies([{ paths: Object.entries(paths).map(([path, capabilities]) => ({ path, capabilities })) }]);

test.each<[string, Record<string, Capability[]>]>([
  ['a path below it', { 'kv/data/a': ['read'] }],
  ['a prefix below it', { 'kv/data/*': ['list'] }],
  ['a prefix above it', { 'k*': ['read'] }],
  ['the mount itself', { 'kv/*': ['read'] }],
  ['a pattern for any mount', { '+/data/a': ['read'] }],
  ['a path below one that is denied', { 'kv/*': ['deny'], 'kv/data/a': ['read'] }],
])('%s grants access to a mount', (_what, paths) => {
  expect(grantsBelow(policies(paths), 'kv/')).toBe(true);
});

test.each<[string, Record<string, Capability[]>]>([
  ['nothing', {}],
  ['another mount with a longer name', { 'kv2/data/*': ['read'] }],
  ['the path of the mount without anything below it', { kv: ['read'] }],
  ['a pattern for another mount', { 'other/+/a': ['read'], '+/a': ['deny'] }],
  ['a denied mount below a prefix', { 'k*': ['read'], 'kv/*': ['deny'] }],
  ['a path without capabilities', { 'kv/data/a': ['deny'] }],
])('%s grants no access to a mount', (_what, paths) => {
  expect(grantsBelow(policies(paths), 'kv/')).toBe(false);
});

test('root has access to every mount', () => {
  expect(grantsBelow(rootPolicy, 'team/kv/')).toBe(true);
});
