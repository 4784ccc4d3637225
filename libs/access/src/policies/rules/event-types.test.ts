import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { compilePolicies } from '../matching/compile-policies.ts';
import { permitsEvent } from '../store/may-read.ts';
import { matchesStars } from './event-types.ts';
import type { PathRule } from './policy-rules.ts';

const root = { id: 'root', path: '' };
const caller = { namespace: root, tokenNamespace: root };
const write = { path: 'kv/data/a', eventType: 'kv-v2/data-write' };

describe('the capability subscribe', () => {
  const isPermitted = (...policies: Partial<PathRule>[][]) =>
    permitsEvent(
      compilePolicies(
        policies.map((rules) => ({
          paths: rules.map((rule) => ({ path: 'kv/*', capabilities: [], ...rule })),
        })),
      ),
      caller,
      write,
    );

  test.each<[string, Partial<PathRule>[][], boolean]>([
    ['with the type', [[{ subscribe_event_types: ['kv-v2/data-write'] }]], true],
    ['with a pattern of the type', [[{ subscribe_event_types: ['database*', 'kv*'] }]], true],
    ['with all types', [[{ subscribe_event_types: ['*'] }]], true],
    ['with another type', [[{ subscribe_event_types: ['kv-v2/data-delete'] }]], false],
    ['without types', [[{ subscribe_event_types: [] }]], false],
    ['on another path', [[{ path: 'kv/metadata/*', subscribe_event_types: ['*'] }]], false],
    [
      'with its types in another policy',
      [[{ subscribe_event_types: [] }], [{ subscribe_event_types: ['*'] }]],
      true,
    ],
    [
      'on a weaker path than one without it',
      [[{ subscribe_event_types: ['*'] }], [{ path: 'kv/data/a', capabilities: ['create'] }]],
      false,
    ],
    [
      'with deny in another policy',
      [[{ subscribe_event_types: ['*'] }], [{ capabilities: ['deny'] }]],
      false,
    ],
    ['that is not there', [[{ capabilities: ['read', 'list', 'sudo'] }]], false],
    ['with a condition of requests', [[{ subscribe_event_types: ['*'], min_wrapping_ttl: 60 }]], true],
  ])('%s', (_what, policies, expected) => {
    expect(isPermitted(...policies)).toBe(expected);
  });
});

describe('a pattern', () => {
  test.each([
    ['kv*', 'kv-v2/data-write', true],
    ['*write', 'kv-v2/data-write', true],
    ['kv*data*write', 'kv-v2/data-write', true],
    ['**', '', true],
    ['a*a', 'a', false],
    ['a*ab*b', 'aab', false],
    ['kv', 'kv-v2', false],
    ['k.*', 'kv', false],
    ['', '', true],
  ])('%s matches %s: %s', (pattern, text, expected) => {
    expect(matchesStars(pattern, text)).toBe(expected);
  });

  test('matches what the regular expression does', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 12 });
    const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 8 });
    fc.assert(
      fc.property(pattern, text, (stars, given) => {
        const expression = new RegExp(`^${stars.replaceAll('*', '.*')}$`);
        expect(matchesStars(stars, given)).toBe(expression.test(given));
      }),
      { numRuns: 2_000 },
    );
  });

  test('of thousands of stars is compared without backtracking, which would never end', () => {
    expect(matchesStars('*a'.repeat(5_000), 'a'.repeat(4_999))).toBe(false);
  });
});
