import { describe, expect, test } from '@jest/globals';
import type { Json } from '@secrets/domain';
import { fieldNamesOf } from '../../paths/path-rules.ts';
import { compilePolicies } from '../matching/compile-policies.ts';
import { Comparisons, maxComparisons } from './comparisons.ts';
import { meetsConditions } from './conditions.ts';
import { parameterRulesOf, permits } from './parameter-rules.ts';
import type { PathRule } from './policy-rules.ts';

type Restrictions = Partial<
  Pick<PathRule, 'allowed_parameters' | 'denied_parameters' | 'required_parameters'>
>;

function allows(
  restrictions: Restrictions | Restrictions[],
  body: Record<string, Json>,
  query: [string, string][] = [],
  path = 'a',
): boolean {
  const paths = [restrictions]
    .flat()
    .map((more): PathRule => ({ path: 'a', capabilities: ['update'], ...more }));
  const { conditions } = compilePolicies(paths.map((rule) => ({ paths: [rule] }))).on({ path: 'a' });
  const parameters = { path, body, query, isRead: false };
  return conditions === undefined || meetsConditions(conditions, { parameters, wrapSeconds: undefined });
}

describe('allowed parameters', () => {
  const allowed = (allowed_parameters: PathRule['allowed_parameters']) => ({ allowed_parameters });
  test.each<[string, Restrictions, Record<string, Json>, boolean]>([
    ['an empty list allows any value', allowed({ a: [] }), { a: { b: [1] } }, true],
    ['a listed value is allowed', allowed({ a: ['x', 5, true] }), { a: 5 }, true],
    ['another value is refused', allowed({ a: ['x'] }), { a: 'y' }, false],
    ['another name is refused', allowed({ a: [] }), { a: 1, b: 2 }, false],
    ['* allows other names', allowed({ a: ['x'], '*': [] }), { a: 'x', b: 2 }, true],
    ['* does not widen a list', allowed({ a: ['x'], '*': [] }), { a: 'y' }, false],
    ['no parameter at all is allowed', allowed({ a: ['x'] }), {}, true],
    ['names are compared without letter case', allowed({ Name: ['x'] }), { nAME: 'x' }, true],
    ['a value may begin with a listed text', allowed({ a: ['x-*'] }), { a: 'x-1' }, true],
    ['a value may end with a listed text', allowed({ a: ['*-x'] }), { a: '1-x' }, true],
    ['a value may contain a listed text', allowed({ a: ['*x*'] }), { a: '1x2' }, true],
    ['a * in the middle is literal', allowed({ a: ['x*y'] }), { a: 'x1y' }, false],
    ['each part of a list in one string must match', allowed({ a: ['x-*'] }), { a: 'x-1,admin' }, false],
    ['all parts of a list in one string may match', allowed({ a: ['x-*'] }), { a: 'x-1, x-2' }, true],
    ['an object must be equal', allowed({ a: [{ b: 1, c: 2 }] }), { a: { c: 2, b: 1 } }, true],
    ['null is a value', allowed({ a: ['x'] }), { a: null }, false],
    ['__proto__ is a name', allowed({ a: [] }), JSON.parse('{"__proto__":{"a":1}}'), false],
    ['a name that begins with _ is a name', allowed({ a: [] }), { _a: 1 }, false],
  ])('%s', (_rule, restrictions, body, expected) => expect(allows(restrictions, body)).toBe(expected));
});

describe('denied parameters', () => {
  const denied = (denied_parameters: PathRule['denied_parameters']) => ({ denied_parameters });
  test.each<[string, Restrictions, Record<string, Json>, boolean]>([
    ['an empty list denies any value', denied({ a: [] }), { a: null }, false],
    ['another name is allowed', denied({ a: [] }), { b: 1 }, true],
    ['another value is allowed', denied({ a: ['x'] }), { a: 'y' }, true],
    ['* denies every parameter', denied({ '*': [] }), { b: 1 }, false],
    ['* allows no parameter', denied({ '*': [] }), {}, true],
    ['deny overrides allow', { ...denied({ a: [] }), allowed_parameters: { a: [] } }, { a: 1 }, false],
    ['letter case of the name does not matter', denied({ a: [] }), { A: 1 }, false],
    ['letter case of the value does not matter', denied({ a: ['admin'] }), { a: 'ADMIN' }, false],
    ['a number as text', denied({ a: [5] }), { a: '5' }, false],
    ['text as a number', denied({ a: ['5'] }), { a: 5.0 }, false],
    ['a boolean as text', denied({ a: [false] }), { a: 'False' }, false],
    ['a boolean as a number', denied({ a: [true] }), { a: 1 }, false],
    ['a duration in another unit', denied({ a: ['1h'] }), { a: '60m' }, false],
    ['a duration in seconds', denied({ a: ['1h'] }), { a: 3600 }, false],
    ['a duration is not compared with a text with *', denied({ a: ['1*'] }), { a: '30m' }, true],
    ['blanks around', denied({ a: ['admin'] }), { a: ' admin ' }, false],
    ['slashes around', denied({ a: ['kv'] }), { a: '/kv/' }, false],
    ['one item of a list', denied({ a: ['admin'] }), { a: ['x', 'admin'] }, false],
    ['one part of a list in one string', denied({ a: ['admin'] }), { a: 'x, admin' }, false],
    ['a map as pairs', denied({ a: [{ b: '1', c: '2' }] }), { a: ['c=2', 'b=1'] }, false],
    ['a pair as a map', denied({ a: ['b=1'] }), { a: { b: '1' } }, false],
    ['another pair', denied({ a: [{ b: '1' }] }), { a: 'b=2' }, true],
    ['the alternative name of an auth method', denied({ a: ['cloudB'] }), { a: 'azure' }, false],
    ['the own name of an auth method', denied({ a: ['Azure'] }), { a: 'cloudB' }, false],
    ['the alternative name of a mount type', denied({ a: ['kv'] }), { a: 'kv-v2' }, false],
    ['the alternative name of a type', denied({ a: ['cloudA-sm'] }), { a: 'aws-sm' }, false],
    ['a text with *', denied({ a: ['admin-*'] }), { a: 'Admin-1' }, false],
  ])('%s', (_rule, restrictions, body, expected) => expect(allows(restrictions, body)).toBe(expected));
});

describe('required parameters', () => {
  const required = (...names: string[]) => ({ required_parameters: names });
  test.each<[string, Restrictions, Record<string, Json>, boolean]>([
    ['must be there', required('a', 'b'), { a: 1 }, false],
    ['may have any value', required('a', 'b'), { a: 0, b: false }, true],
    ['must not be null, which services treat as absent', required('a'), { a: null }, false],
    ['must have the letter case that services read', required('A'), { A: 1 }, false],
    ['are found in lower case', required('A'), { a: 1 }, true],
    ['are not found in prototypes', required('constructor'), {}, false],
  ])('%s', (_rule, restrictions, body, expected) => expect(allows(restrictions, body)).toBe(expected));
});

test('a field with two names cannot be used by the other one to avoid a rule', () => {
  const denies = { denied_parameters: { token_policies: ['admin'], paths: [] } };
  expect(allows(denies, { policies: 'admin' })).toBe(false);
  expect(allows(denies, { path: ['a'] })).toBe(false);
  const limits = { allowed_parameters: { ttl: ['1h'], '*': [] } };
  expect(allows(limits, { token_ttl: '768h' })).toBe(false);
});

const examples = ['auth/azure/role/a', 'auth/token/roles/a', 'sys/capabilities', 'sys/policy/a'];
const pairs = examples.flatMap((path) => fieldNamesOf(path).map(([own, other]) => ({ path, own, other })));

test.each(pairs)('of $path, $other is a name of $own', ({ path, own, other }) => {
  for (const [ruled, sent] of [
    [own, other],
    [other, own],
  ] as const) {
    expect(allows({ denied_parameters: { [ruled]: [] } }, { [sent]: 'x' }, [], path)).toBe(false);
    expect(allows({ allowed_parameters: { [ruled]: ['y'], '*': [] } }, { [sent]: 'x' }, [], path)).toBe(
      false,
    );
    expect(allows({ required_parameters: [ruled] }, { [sent]: 'x' }, [], path)).toBe(true);
    expect(allows({ required_parameters: [ruled] }, { [sent]: 'x' }, [], 'auth/token/create')).toBe(false);
  }
});

test('settings of a mount cannot be set in `config` to avoid a rule', () => {
  const denies = { denied_parameters: { max_versions: [] } };
  expect(allows(denies, { config: { max_versions: 1 } })).toBe(false);
  const limits = { allowed_parameters: { max_versions: [5], config: [] } };
  expect(allows(limits, { config: { max_versions: 1 } })).toBe(false);
  expect(allows(limits, { config: { max_versions: 5, cas_required: true } })).toBe(true);
});

test('parameters in the query are parameters, but do not satisfy a requirement', () => {
  expect(allows({ denied_parameters: { wait: [] } }, {}, [['wait', '0']])).toBe(false);
  expect(allows({ allowed_parameters: { a: [] } }, { a: 1 }, [['wait', '0']])).toBe(false);
  expect(allows({ allowed_parameters: { a: [], wait: ['0'] } }, { a: 1 }, [['wait', '0']])).toBe(true);
  expect(allows({ required_parameters: ['a'] }, {}, [['a', '1']])).toBe(false);
});

test('the parameters of a read are its query', () => {
  const paths = [{ path: 'a', capabilities: ['read' as const], required_parameters: ['version'] }];
  const { conditions } = compilePolicies([{ paths }]).on({ path: 'a' });
  const isAllowed = (query: [string, string][]) =>
    meetsConditions(conditions!, {
      parameters: { path: 'a', body: {}, query, isRead: true },
      wrapSeconds: undefined,
    });
  expect(isAllowed([['version', '1']])).toBe(true);
  expect(isAllowed([['other', '1']])).toBe(false);
});

describe('policies with the same path', () => {
  const a = { allowed_parameters: { x: ['1'], y: [] } };

  test('allow the names and values of all of them', () => {
    const both = [a, { allowed_parameters: { x: ['2'], z: [] } }];
    expect(allows(both, { x: '1', y: 'any', z: 'any' })).toBe(true);
    expect(allows(both, { x: '2' })).toBe(true);
    expect(allows(both, { x: '3' })).toBe(false);
    expect(allows([a, { allowed_parameters: { x: [] } }], { x: '3' })).toBe(true);
  });

  test('deny the names and values of all of them, and require all', () => {
    const both = [{ denied_parameters: { x: ['1'] } }, { denied_parameters: { x: ['2'] } }];
    expect(allows(both, { x: '1' })).toBe(false);
    expect(allows(both, { x: '2' })).toBe(false);
    const required = [{ required_parameters: ['x'] }, { required_parameters: ['y'] }];
    expect(allows(required, { x: '1' })).toBe(false);
  });

  test('require the lower of the limits for wrapping', () => {
    const rule = (more: object): PathRule => ({ path: 'a', capabilities: ['read'], ...more });
    const paths = [
      rule({ min_wrapping_ttl: 60, max_wrapping_ttl: 300 }),
      rule({ min_wrapping_ttl: 30, max_wrapping_ttl: 600 }),
      rule({}),
    ];
    expect(compilePolicies([{ paths }]).on({ path: 'a' }).conditions).toEqual({
      parameters: undefined,
      minWrapSeconds: 30,
      maxWrapSeconds: 300,
    });
  });

  test('restrict parameters even if one of them does not', () => {
    expect(allows([a, {}], { z: 1 })).toBe(false);
    expect(allows([{}, a], { z: 1 })).toBe(false);
  });
});

describe('the comparisons of one request', () => {
  const values = (count: number, text: (at: number) => string) =>
    Array.from({ length: count }, (_, at) => text(at));
  const stepsOf = (restrictions: Restrictions, a: Json): number => {
    const comparisons = new Comparisons();
    const rules = parameterRulesOf({ path: 'a', capabilities: ['update'], ...restrictions })!;
    permits(rules, { path: 'a', body: { a }, query: [], isRead: false }, comparisons);
    return comparisons.steps;
  };

  test.each<[string, Restrictions, Json]>([
    ['of many items', { denied_parameters: { a: values(900, String) } }, values(4_900, (at) => `x${at}`)],
    ['of many items in a text', { denied_parameters: { a: values(900, String) } }, 'x,'.repeat(500_000)],
    ['of a long text', { allowed_parameters: { a: [`*b${'a'.repeat(30_000)}*`] } }, 'a'.repeat(1_000_000)],
    ['of nested lists', { denied_parameters: { a: values(900, String) } }, [values(4_900, String)]],
    [
      'of values that are lists themselves',
      {
        allowed_parameters: {
          a: [
            [...values(4_000, String), 'x'],
            [...values(4_000, String), 'y'],
          ],
        },
      },
      [...values(4_000, String), 'z'],
    ],
  ])('are limited: a request %s is refused', (_which, restrictions, a) => {
    expect(() => stepsOf(restrictions, a)).toThrow('too many values to compare');
  });

  test.each<[string, Restrictions, Json]>([
    ['all values of a policy', { denied_parameters: { a: values(1_000, String) } }, 'x'],
    [
      'a long text with a few patterns',
      { allowed_parameters: { a: ['*x', 'x*', '*y*'] } },
      'z'.repeat(1_000_000),
    ],
    [
      'a list of 20 items with 100 values',
      { denied_parameters: { a: values(100, (at) => `x-${at}`) } },
      values(20, String),
    ],
  ])('suffice for %s', (_which, restrictions, a) => {
    expect(stepsOf(restrictions, a)).toBeLessThanOrEqual(maxComparisons);
  });
});
