import { describe, expect, test } from '@jest/globals';
import { type Capability, capabilities } from '@secrets/caller';
import fc from 'fast-check';
import { seenPath } from '../../paths/seen-path.ts';
import { PolicyRules } from '../rules/policy-rules.ts';
import { compilePart, compilePolicies, mergedPolicies } from './compile-policies.ts';

const policy = (paths: Record<string, Capability[]>): PolicyRules => ({
  paths: Object.entries(paths).map(([path, granted]) => ({ path, capabilities: granted })),
});

const capabilitiesOn = (policies: readonly PolicyRules[], path: string, alternative?: string) =>
  compilePolicies(policies).on({ path, alternative }).capabilities;

describe('the strongest matching pattern decides', () => {
  test.each<[string, Record<string, Capability[]>, string, Capability[]]>([
    ['nothing is granted if no pattern matches', { 'kv/data/*': ['read'] }, 'kv/metadata/a', []],
    ['a prefix does not match the folder itself', { 'kv/data/*': ['read'] }, 'kv/data', []],
    ['a prefix may end inside a segment', { 'kv/da*': ['read'] }, 'kv/data/a/b', ['read']],
    ['exact beats prefix', { 'kv/data/a': ['read'], 'kv/data/*': ['delete'] }, 'kv/data/a', ['read']],
    ['exact beats +', { 'kv/data/a': ['read'], 'kv/+/a': ['delete'] }, 'kv/data/a', ['read']],
    ['the longer prefix wins', { 'kv/*': ['read'], 'kv/data/*': ['delete'] }, 'kv/data/a', ['delete']],
    ['a later first wildcard wins', { 'kv/+/+/x': ['read'], 'kv/data/*': ['list'] }, 'kv/data/a/x', ['list']],
    [
      'a pattern without a trailing * wins',
      { 'kv/+/a': ['read'], 'kv/+/*': ['list'] },
      'kv/data/a',
      ['read'],
    ],
    ['fewer + win', { '+/data/+/x*': ['read'], '+/data/a/*': ['list'] }, 'kv/data/a/x', ['list']],
    ['the longer pattern wins', { '+/data/*': ['read'], '+/data/a*': ['list'] }, 'kv/data/ab', ['list']],
    ['the pattern that sorts later wins', { '+/+/b': ['read'], '+/a/+': ['list'] }, 'x/a/b', ['list']],
    ['+ matches exactly one segment', { 'kv/+/x': ['read'] }, 'kv/a/b/x', []],
    ['+ matches an empty segment', { 'kv/+': ['read'] }, 'kv/', ['read']],
    ['+ inside a segment is literal', { 'kv/a+b': ['read'] }, 'kv/aab', []],
    ['regular expression characters are literal', { '+/a.b': ['read'] }, 'x/aXb', []],
    ['a * in the request is literal', { 'kv/*': ['read'] }, '*', []],
    ['a leading slash of the pattern is ignored', { '/kv/a': ['read'] }, 'kv/a', ['read']],
  ])('%s', (_name, paths, path, granted) => {
    expect(capabilitiesOn([policy(paths)], path)).toEqual(granted);
  });
});

test('policies with the same pattern are combined, and deny overrides all others', () => {
  const a = policy({ 'kv/*': ['read'] });
  const b = policy({ 'kv/*': ['list', 'read'] });
  expect(capabilitiesOn([a, b], 'kv/x')).toEqual(['read', 'list']);
  expect(capabilitiesOn([a, b, policy({ 'kv/*': ['deny'] })], 'kv/x')).toEqual([]);
  expect(capabilitiesOn([a, policy({ '*': ['deny'] })], 'kv/x')).toEqual(['read']);
});

describe('a path with an alternative name', () => {
  const names = ['sys/sync/destinations/codehost/x', 'sys/sync/destinations/gh/x'] as const;
  test.each<[string, Record<string, Capability[]>, Capability[]]>([
    [
      'has what a pattern with its own name grants',
      { 'sys/sync/destinations/codehost/*': ['read'] },
      ['read'],
    ],
    ['has what a pattern with the other name grants', { 'sys/sync/destinations/gh/*': ['read'] }, ['read']],
    [
      'combines the same pattern in both names',
      { 'sys/sync/destinations/gh/*': ['read'], 'sys/sync/destinations/codehost/*': ['list'] },
      ['read', 'list'],
    ],
    [
      'is denied by the other name, if the same pattern with its own name grants it',
      { 'sys/sync/destinations/gh/x': ['deny'], 'sys/sync/destinations/codehost/x': ['read'] },
      [],
    ],
    [
      'is denied by its own name, if the same pattern with the other name grants it',
      { 'sys/sync/destinations/gh*': ['read'], 'sys/sync/destinations/codehost*': ['deny'] },
      [],
    ],
    [
      'is denied by a pattern with + and the other name',
      { 'sys/sync/+/gh/*': ['deny'], 'sys/sync/+/codehost/*': ['read'] },
      [],
    ],
    [
      'is denied by a prefix that ends in the other name',
      { 'sys/sync/destinations/*': ['read'], 'sys/sync/destinations/g*': ['deny'] },
      [],
    ],
    [
      'is decided by the strongest pattern, whichever name that has',
      { 'sys/sync/destinations/gh/x': ['deny'], 'sys/sync/destinations/codehost/*': ['read'] },
      [],
    ],
    [
      'is decided by the pattern whose first wildcard comes later, as if it had the same name',
      { 'sys/sync/destinations/gh/x*': ['deny'], 'sys/sync/destinations/codehost/*': ['read'] },
      [],
    ],
    ['has nothing, if no pattern has either name', { 'sys/sync/destinations/aws-sm/*': ['read'] }, []],
  ])('%s', (_name, paths, granted) => {
    expect(capabilitiesOn([policy(paths)], ...names)).toEqual(granted);
    const [path, alternative] = names;
    const folders = Object.fromEntries(
      Object.entries(paths).map(([pattern, capabilities]) => [pattern.replace(/x$/, 'x/'), capabilities]),
    );
    expect(compilePolicies([policy(folders)]).onFolder({ path, alternative }).capabilities).toEqual(granted);
  });
});

describe('listing a folder is decided by', () => {
  test.each<[string, Record<string, Capability[]>]>([
    ['a prefix', { 'kv/metadata/team/*': ['list'] }],
    ['its path with a slash', { 'kv/metadata/team/': ['list'] }],
    ['its path without a slash', { 'kv/metadata/team': ['list'] }],
    ['a pattern with +', { 'kv/+/team': ['list'] }],
    ['a prefix with +', { 'kv/+/team/*': ['list'] }],
    ['a + after its slash', { 'kv/metadata/team/+': ['list'] }],
    [
      'its path with a slash, over that without',
      { 'kv/metadata/team/': ['list'], 'kv/metadata/team': ['deny'] },
    ],
    [
      'its path without a slash, over a prefix',
      { 'kv/metadata/team': ['list'], 'kv/metadata/team/*': ['deny'] },
    ],
    ['a pattern with its slash, over one without', { '+/+/+/+': ['list'], 'kv/+/team': ['deny'] }],
  ])('%s', (_name, paths) => {
    const each = Object.entries(paths).map(([path, granted]) => compilePart([policy({ [path]: granted })]));
    for (const compiled of [compilePolicies([policy(paths)]), mergedPolicies(each)])
      expect(compiled.onFolder({ path: 'kv/metadata/team' }).capabilities).toEqual(['list']);
  });
});

test.each(['', 'kv/*/a', 'kv/**', '+*', 'kv/+*', 'x'.repeat(1025)])(
  'refuses %j as the path of a policy',
  (path) => {
    expect(PolicyRules.safeParse(policy({ [path]: ['read'] })).success).toBe(false);
  },
);

// The reference implementation: match segment by segment and compare all matches by the documented rules.

function matches(pattern: string, path: string): boolean {
  const isPrefix = pattern.endsWith('*');
  const expected = (isPrefix ? pattern.slice(0, -1) : pattern).split('/');
  const actual = path.split('/');
  if (isPrefix ? actual.length < expected.length : actual.length !== expected.length) return false;
  return expected.every((segment, index) => {
    if (segment === '+') return true;
    const last = isPrefix && index === expected.length - 1;
    return last ? actual[index]!.startsWith(segment) : actual[index] === segment;
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

function referenceCapabilities(policies: PolicyRules[], ...texts: string[]): Capability[] {
  const rules = policies.flatMap(({ paths }) => paths);
  const isExact = (path: string) => wildcardAt(path) === Number.POSITIVE_INFINITY;
  const exact = texts.map((text) =>
    rules.map(({ path }) => path).filter((path) => isExact(path) && path === text),
  );
  const [matching = []] = [...exact, ...texts.map((text) => pathsThatMatch(rules, text))].filter(
    (paths) => paths.length > 0,
  );
  if (matching.length === 0) return [];
  const winner = matching.reduce((a, b) => (weaker(a, b) ? b : a));
  const granted = rules.filter(({ path }) => path === winner).flatMap((rule) => rule.capabilities);
  return granted.includes('deny') ? [] : capabilities.filter((capability) => granted.includes(capability));
}

const pathsThatMatch = (rules: PolicyRules['paths'], text: string): string[] =>
  rules.map(({ path }) => path).filter((path) => matches(path, text));

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

test('compiled policies agree with the reference implementation, compiled together or separately', () => {
  fc.assert(
    fc.property(fc.array(rules, { maxLength: 4 }), requested, (policies, path) => {
      const together = compilePolicies(policies);
      const separately = mergedPolicies(policies.map((one) => compilePart([one])));
      for (const compiled of [together, separately]) {
        expect(compiled.on({ path }).capabilities).toEqual(referenceCapabilities(policies, path));
        expect(compiled.onFolder({ path }).capabilities).toEqual(
          referenceCapabilities(policies, `${path}/`, path),
        );
      }
      expect(separately.rules).toEqual(together.rules);
    }),
    { numRuns: 2_000 },
  );
});

test('a policy means the same with whichever names of a path it is written', () => {
  const part = fc.constantFrom('codehost', 'gh', 'webhost-project', 'vercel-project', '+');
  const end = fc.constantFrom('', '/x', '/+', '/*', '*', '/x*', '/+/set');
  const written = fc
    .tuple(part, end)
    .map((parts) => `sys/sync/destinations/${parts.join('')}`)
    .filter((path) => !path.endsWith('+*'));
  const granting = fc.subarray([...capabilities], { maxLength: 3 });
  const paths = fc.array(fc.record({ path: written, capabilities: granting }), { maxLength: 8 });
  const own = (path: string) =>
    path.replace('/gh', '/codehost').replace('/vercel-project', '/webhost-project');
  fc.assert(
    fc.property(paths, fc.constantFrom('', '/x', '/x/set'), (given, rest) => {
      const path = `sys/sync/destinations/codehost${rest}`;
      const names = { path, alternative: `sys/sync/destinations/gh${rest}` };
      const renamed = given.map((rule) => ({ ...rule, path: own(rule.path) }));
      const [mixed, uniform] = [given, renamed].map((rules) => compilePolicies([{ paths: rules }]));
      expect(mixed!.on(names)).toEqual(uniform!.on({ path }));
      expect(mixed!.onFolder(names)).toEqual(uniform!.onFolder({ path }));
    }),
    { numRuns: 2_000 },
  );
});

test('a name that is found in any letter case has what any spelling of it grants', () => {
  const spelling = fc.constantFrom('Ops', 'ops', 'OPS', 'O', 'Dev', '+');
  const end = fc.constantFrom('', '', '*', '/x', '/X');
  const start = fc.constantFrom(
    ...['sys/policies/acl/', '+/policies/acl/', '+/+/+/', 'Team/sys/policies/acl/'],
  );
  const written = fc.tuple(start, spelling, end).map((parts) => parts.join(''));
  const granting = fc.subarray([...capabilities], { maxLength: 3 });
  const paths = fc.array(
    fc.record({ path: written.filter((path) => !path.endsWith('+*')), capabilities: granting }),
    { maxLength: 8 },
  );
  const namespaces = ['', 'Team', 'team'].map((path) => ({
    namespace: { id: path, path },
    tokenNamespace: root,
  }));
  fc.assert(
    fc.property(paths, fc.constantFrom(...namespaces), (given, caller) => {
      const lower = given.map((rule) => {
        const [, start, name] = /^((?:Team\/)?(?:[^/]+\/){3})(.*)$/.exec(rule.path)!;
        return { ...rule, path: `${start}${name!.toLowerCase()}` };
      });
      const [asWritten, inLower] = [given, lower].map((rules) => compilePolicies([{ paths: rules }]));
      for (const name of ['Ops', 'oPS/X', 'dev']) {
        const [seen, other] = [name, name.toLowerCase()].map(
          (one) => seenPath(`sys/policies/acl/${one}`, caller)!,
        );
        expect(asWritten!.on(seen!)).toEqual(asWritten!.on(other!));
        expect(asWritten!.on(seen!)).toEqual(inLower!.on(other!));
        expect(asWritten!.onFolder(seen!)).toEqual(inLower!.onFolder(other!));
      }
    }),
    { numRuns: 1_000 },
  );
});

const root = { id: 'root', path: '' };
