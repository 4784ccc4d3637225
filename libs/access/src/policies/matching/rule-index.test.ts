import { describe, expect, test } from '@jest/globals';
import { capabilities } from '@secrets/caller';
import fc from 'fast-check';
import { grantOf } from '../rules/grant.ts';
import { byPriority, type PolicyPattern, parsePattern } from '../rules/policy-pattern.ts';
import { maxPlusSegments, type PathRule } from '../rules/policy-rules.ts';
import { maxPlusPaths } from '../rules/policy-size.ts';
import { plusIndex } from './plus-index.ts';
import { indexRules, mergedIndex } from './rule-index.ts';

// The reference: every pattern as a regular expression, tried in order of priority.

function expressionOf({ stem, isPrefix }: PolicyPattern): RegExp {
  const escaped = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
  const segments = stem.split('/').map((segment) => (segment === '+' ? '[^/]*' : escaped(segment)));
  return new RegExp(`^${segments.join('/')}${isPrefix ? '' : '$'}`);
}

function referenceRule(rules: readonly PathRule[], text: string) {
  const matching = rules
    .map((rule) => ({ rule, pattern: parsePattern(rule.path) }))
    .filter(({ pattern }) => expressionOf(pattern).test(text))
    .sort((a, b) => byPriority(a.pattern, b.pattern));
  const [strongest] = matching;
  if (strongest === undefined) return undefined;
  const same = matching.filter(({ pattern }) => pattern.text === strongest.pattern.text);
  const granted = same.map(({ rule }) => grantOf(rule));
  return {
    text: strongest.pattern.text,
    capabilities: granted.some(({ isDenied }) => isDenied)
      ? []
      : capabilities.filter((one) => granted.some((grant) => grant.capabilities.includes(one))),
  };
}

const part = fc.constantFrom('a', 'b', 'ab', 'abc', 'a+', '+b', '.', '');
const written = fc
  .tuple(
    fc.array(fc.oneof({ weight: 2, arbitrary: part }, { weight: 2, arbitrary: fc.constant('+') }), {
      minLength: 1,
      maxLength: 6,
    }),
    fc.constantFrom('', '', '/', '/*', '*', 'a*'),
  )
  .map(([segments, end]) => segments.join('/') + end);
const rule = fc.record({ path: written, capabilities: fc.subarray([...capabilities], { maxLength: 2 }) });
const requested = fc.array(part, { minLength: 1, maxLength: 7 }).map((segments) => segments.join('/'));

test('the index finds the rule that comparing each pattern finds, whether policies are indexed together or separately', () => {
  fc.assert(
    fc.property(fc.array(rule, { maxLength: 40 }), fc.array(requested, { maxLength: 12 }), (given, paths) => {
      const half = given.length >> 1;
      const indexes = [
        indexRules(given),
        mergedIndex([indexRules(given.slice(0, half)), indexRules(given.slice(half))]),
      ];
      for (const path of paths)
        for (const index of indexes) {
          const found = (rule: ReturnType<typeof index.on>) =>
            rule && { text: rule.pattern.text, capabilities: [...rule.grant.capabilities] };
          expect(found(index.on(path))).toEqual(referenceRule(given, path));
        }
    }),
    { numRuns: 1_500 },
  );
});

describe('the comparisons of one decision', () => {
  const stepsOf = (paths: readonly string[], asked: string): number => {
    const index = plusIndex(paths.map((path) => ({ pattern: parsePattern(path) })));
    index.find(asked);
    expect(index.steps).toBeLessThanOrEqual(index.maxSteps);
    return index.steps;
  };
  const many = (path: (at: number) => string) => Array.from({ length: maxPlusPaths }, (_, at) => path(at));
  /** 500 paths with at most 32 `+` each: one comparison for each pattern, and one for each text between two `+`. */
  const bound = maxPlusPaths * (1 + 1 + maxPlusSegments);

  test.each<[string, (at: number) => string, string]>([
    ['which differ at their end', (at) => `${'+/a/'.repeat(32)}x${at}`, `${'b/a/'.repeat(32)}x`],
    ['which match nothing', (at) => `${'+/'.repeat(32)}x${at}`, 'b/'.repeat(500)],
    ['which are prefixes', (at) => `${'+/a/'.repeat(32)}x${at}*`, `${'b/a/'.repeat(100)}x`],
    ['of a path with empty segments', (at) => `${'+/'.repeat(32)}x${at}*`, `${'a/'.repeat(31)}/x`],
  ])('are limited for 500 patterns %s', (_which, path, asked) => {
    expect(stepsOf(many(path), asked)).toBeLessThanOrEqual(bound);
  });

  test('are few for stored patterns that consist of +, however many', () => {
    expect(
      stepsOf(
        many((at) => `${'+/'.repeat(500)}${at}`),
        `${'a/'.repeat(500)}x`,
      ),
    ).toBeLessThanOrEqual(1_000);
  });

  test('are those of patterns that begin as the path does, and have as many segments', () => {
    const paths = many((at) => `team-${at}/+/data/+`);
    expect(stepsOf(paths, 'team-7/a/data/b')).toBeLessThanOrEqual(3);
    expect(stepsOf(paths, 'team-7/a/data/b/c')).toBe(0);
  });

  test('include the values of parameters, which are merged', () => {
    const values = Array.from({ length: 700 }, (_, at) => at);
    const rule = (path: string): PathRule => ({
      path,
      capabilities: ['update'],
      denied_parameters: { a: values },
    });
    expect(indexRules([rule('a'), rule('b')]).maxSteps).toBeGreaterThan(700);
    expect(indexRules([rule('a'), rule('a')]).maxSteps).toBeGreaterThan(1_400);
  });
});
