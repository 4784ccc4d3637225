import { expect, test } from '@jest/globals';
import { upstreamFor } from './routing.ts';

test.each([
  ['sys/capabilities', 'login'],
  ['sys/capabilities-self', 'login'],
  ['sys/capabilities-accessor', 'login'],
  ['sys/policies/acl/a', 'login'],
  ['sys/sync/config', 'sync-control'],
  ['sys/syncs', undefined],
  ['sys', undefined],
  ['SYS/mounts', 'secrets'],
  ['system/data/a', 'secrets'],
  ['authority/data/a', 'secrets'],
])('%s goes to %s', (path, upstream) => {
  expect(upstreamFor(path)).toBe(upstream);
});
