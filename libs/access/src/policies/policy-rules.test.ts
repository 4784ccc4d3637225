import { describe, expect, test } from '@jest/globals';
import { type Capability, capabilities } from '@secrets/caller';
import fc from 'fast-check';
import { capabilitiesOn, compilePolicies } from './compile-policies.ts';
import { PolicyRules } from './policy-rules.ts';

const policy = (paths: Record<string, Capability[]>): PolicyRules => ({
  paths: Object.entries(paths).map(([path, granted]) => ({ path, capabilities: granted })),
});

describe('the most specific path decides', () => {
  test.each<[string, Record<string, Capability[]>, string, Capability[]]>([
    ['nothing matches', { 'kv/data/*': ['read'] }, 'kv/metadata/a', []],
    ['a prefix does not match its own folder', { 'kv/data/*': ['read'] }, 'kv/data', []],
    ['a prefix may end inside a segment', { 'kv/da*': ['read'] }, 'kv/data/a/b', ['read']],
    ['exact beats prefix', { 'kv/data/a': ['read'], 'kv/data/*': ['delete'] }, 'kv/data/a', ['read']],
    ['exact beats plus', { 'kv/data/a': ['read'], 'kv/+/a': ['delete'] }, 'kv/data/a', ['read']],
    ['the longer prefix wins', { 'kv/*': ['read'], 'kv/data/*': ['delete'] }, 'kv/data/a', ['delete']],
    ['a later first wildcard wins', { 'kv/+/+/x': ['read'], 'kv/data/*': ['list'] }, 'kv/data/a/x', ['list']],
    ['not ending in * wins', { 'kv/+/a': ['read'], 'kv/+/*': ['list'] }, 'kv/data/a', ['read']],
    ['fewer plus win', { '+/data/+/x*': ['read'], '+/data/a/*': ['list'] }, 'kv/data/a/x', ['list']],
    ['the longer one wins', { '+/data/*': ['read'], '+/data/a*': ['list'] }, 'kv/data/ab', ['list']],
    ['the later in the alphabet wins', { '+/+/b': ['read'], '+/a/+': ['list'] }, 'x/a/b', ['list']],
    ['plus takes one segment only', { 'kv/+/x': ['read'] }, 'kv/a/b/x', []],
    ['plus inside a segment is a letter', { 'kv/a+b': ['read'] }, 'kv/aab', []],
    ['letters of expressions mean themselves', { '+/a.b': ['read'] }, 'x/aXb', []],
    ['a star in the request is a letter', { 'kv/*': ['read'] }, '*', []],
    ['a leading slash of the policy is dropped', { '/kv/a': ['read'] }, 'kv/a', ['read']],
  ])('%s', (_name, paths, path, granted) => {
    expect(capabilitiesOn([policy(paths)], path)).toEqual(granted);
  });
});

test('the same path in several policies: all together, and one deny takes everything', () => {
  const a = policy({ 'kv/*': ['read'] });
  const b = policy({ 'kv/*': ['list', 'read'] });
  expect(capabilitiesOn([a, b], 'kv/x')).toEqual(['read', 'list']);
  expect(capabilitiesOn([a, b, policy({ 'kv/*': ['deny'] })], 'kv/x')).toEqual([]);
  expect(capabilitiesOn([a, policy({ '*': ['deny'] })], 'kv/x')).toEqual(['read']);
});

test('a folder is listed under its name with and without the slash', () => {
  for (const path of [
    'kv/metadata/team/*',
    'kv/metadata/team/',
    'kv/metadata/team',
    'kv/+/team',
    'kv/+/team/*',
  ]) {
    expect(compilePolicies([policy({ [path]: ['list'] })]).onFolder('kv/metadata/team')).toEqual(['list']);
  }
  const denied = policy({ 'kv/metadata/team/*': ['list'], 'kv/metadata/team': ['deny'] });
  expect(compilePolicies([denied]).onFolder('kv/metadata/team')).toEqual([]);
});

test.each(['', 'kv/*/a', 'kv/**', '+*', 'kv/+*', 'x'.repeat(1025)])('%j is no path of a policy', (path) => {
  expect(PolicyRules.safeParse(policy({ [path]: ['read'] })).success).toBe(false);
});

// The obvious way: match segment by segment, sort everything that matches by the sentences of the documentation.

function matches(pattern: string, path: string): boolean {
  const isPrefix = pattern.endsWith('*');
  const wanted = (isPrefix ? pattern.slice(0, -1) : pattern).split('/');
  const given = path.split('/');
  if (isPrefix ? given.length < wanted.length : given.length !== wanted.length) return false;
  return wanted.every((segment, index) => {
    if (segment === '+') return given[index] !== '';
    const last = isPrefix && index === wanted.length - 1;
    return last ? given[index]!.startsWith(segment) : given[index] === segment;
  });
}

const wildcardAt = (pattern: string): number => {
  let at = 0;
  for (const segment of pattern.split('/')) {
    if (segment === '+') return at;
    if (segment.endsWith('*')) return at + segment.length - 1;
    at += segment.length + 1;
  }
  return Number.POSITIVE_INFINITY;
};

function weaker(a: string, b: string): boolean {
  if (wildcardAt(a) !== wildcardAt(b)) return wildcardAt(a) < wildcardAt(b);
  if (a.endsWith('*') !== b.endsWith('*')) return a.endsWith('*');
  const plus = (text: string) => text.split('/').filter((segment) => segment.replace('*', '') === '+').length;
  if (plus(a) !== plus(b)) return plus(a) > plus(b);
  if (a.length !== b.length) return a.length < b.length;
  return a < b;
}

function slowCapabilities(policies: PolicyRules[], texts: string[]): Capability[] {
  const rules = policies.flatMap(({ paths }) => paths);
  const matching = rules.filter(({ path }) => texts.some((text) => matches(path, text)));
  const winner = matching
    .map(({ path }) => path)
    .reduce((a, b) => (weaker(a, b) ? b : a), matching[0]?.path ?? '');
  const granted = rules.filter(({ path }) => path === winner).flatMap((rule) => rule.capabilities);
  if (matching.length === 0 || granted.includes('deny')) return [];
  return capabilities.filter((capability) => granted.includes(capability));
}

const segment = fc.constantFrom('a', 'b', 'ab', 'a.b', 'a+b');
const pattern = fc
  .tuple(
    fc.array(fc.oneof(segment, fc.constant('+')), { minLength: 1, maxLength: 4 }),
    fc.constantFrom('', '/', '/*', '*'),
  )
  .map(([segments, end]) => segments.join('/') + end)
  .filter((path) => !path.endsWith('+*'));
const rules = fc.record({
  paths: fc.array(
    fc.record({
      path: fc.oneof({ weight: 9, arbitrary: pattern }, { weight: 1, arbitrary: fc.constant('*') }),
      capabilities: fc.subarray([...capabilities], { maxLength: 3 }),
    }),
    { maxLength: 6 },
  ),
});
const requested = fc.array(segment, { minLength: 1, maxLength: 5 }).map((segments) => segments.join('/'));

test('the compiled form agrees with the obvious one', () => {
  fc.assert(
    fc.property(fc.array(rules, { maxLength: 4 }), requested, (policies, path) => {
      const compiled = compilePolicies(policies);
      expect(compiled.on(path)).toEqual(slowCapabilities(policies, [path]));
      expect(compiled.onFolder(path)).toEqual(slowCapabilities(policies, [path, `${path}/`]));
    }),
    { numRuns: 2_000 },
  );
});
