import { expect, test } from '@jest/globals';
import { claimAt } from './claim-at.ts';

const claims = {
  sub: 's',
  'a.b': 'literal',
  'kubernetes.io': { namespace: 'shop', serviceaccount: { name: 'web' } },
  realm_access: { roles: ['one', 'two'] },
  both: { x: 'nested' },
  'both.x': 'literal',
  'odd/name~': 'escaped',
  nothing: null,
};

test.each([
  ['sub', 's'],
  ['a.b', 'literal'],
  ['kubernetes.io.namespace', 'shop'],
  ['kubernetes.io.serviceaccount.name', 'web'],
  ['/kubernetes.io/serviceaccount/name', 'web'],
  ['realm_access.roles', ['one', 'two']],
  ['/realm_access/roles/1', 'two'],
  ['/odd~1name~0', 'escaped'],
  ['nothing', null],
])('%s is found', (name, value) => {
  expect(claimAt(claims, name)).toEqual(value);
});

test.each([
  'both.x',
  'sub.length',
  'realm_access.roles.length',
  'realm_access.roles.0',
  'constructor',
  '__proto__',
  'toString',
  '/__proto__',
  '/realm_access/roles/2',
  '/realm_access/roles/01',
  '/realm_access/roles/length',
  '/realm_access/roles/-1',
  '/sub/0',
  '/',
  '',
  '.',
  `a${'.a'.repeat(5_000)}`,
])('%s names nothing', (name) => {
  expect(claimAt(claims, name)).toBeUndefined();
});

test('a deeply nested object with many readings is read quickly', () => {
  let nested: object = { a: 1 };
  for (let level = 0; level < 15; level += 1) nested = { a: nested, 'a.a': nested, 'a.a.a': nested };
  const start = performance.now();
  expect(claimAt(nested as Record<string, unknown>, Array(16).fill('a').join('.'))).toBeUndefined();
  expect(performance.now() - start).toBeLessThan(1_000);
});
