import { describe, expect, test } from '@jest/globals';
import { compilePolicies } from '../matching/compile-policies.ts';
import { resolvedPath, type TemplateValues } from './path-templates.ts';
import type { PathRule } from './policy-rules.ts';

const values: TemplateValues = {
  id: 'e1',
  name: 'ann',
  metadata: {
    team: 'blue',
    'a.b': 'dotted',
    empty: '',
    star: 'x*',
    plus: '+',
    folders: 'a/b',
    mail: 'a+b@c',
  },
  aliases: [{ mountId: 'm1', mountAccessor: 'auth_1', id: 'a1', name: 'principal-1' }],
  groups: [{ id: 'g1', name: 'ops', metadata: { site: 'north' } }],
};

test.each([
  ['kv/{{identity.entity.id}}/*', 'kv/e1/*'],
  ['kv/{{ identity.entity.name }}', 'kv/ann'],
  ['kv/{{identity.entity.metadata.team}}-{{identity.entity.id}}', 'kv/blue-e1'],
  ['kv/{{identity.entity.metadata.a.b}}', 'kv/dotted'],
  ['kv/{{identity.entity.metadata.mail}}/+', 'kv/a+b@c/+'],
  ['kv/{{identity.entity.aliases.auth_1.id}}', 'kv/a1'],
  ['kv/{{identity.entity.aliases.auth_1.name}}', 'kv/principal-1'],
  ['kv/{{identity.groups.ids.g1.name}}', 'kv/ops'],
  ['kv/{{identity.groups.names.ops.id}}', 'kv/g1'],
  ['kv/{{identity.groups.names.ops.metadata.site}}', 'kv/north'],
  ['kv/{{identity.groups.ids.g1.metadata.site}}', 'kv/north'],
])('%s is %s', (path, resolved) => expect(resolvedPath(path, values)).toBe(resolved));

test('the group whose name is written exactly is preferred among those that differ in letter case', () => {
  const group = (name: string) => ({ id: `id of ${name}`, name, metadata: {} });
  const groups = [group('OPS'), group('Ops'), group('ops')];
  for (const { name, id } of groups)
    expect(resolvedPath(`kv/{{identity.groups.names.${name}.id}}`, { ...values, groups })).toBe(`kv/${id}`);
  expect(resolvedPath('kv/{{identity.groups.names.oPS.id}}', { ...values, groups })).toBeUndefined();
});

describe('a path grants nothing if', () => {
  test.each([
    ['it names something unknown', 'kv/{{identity.foo}}'],
    ['it names something beside the identity', 'kv/{{time.now}}'],
    ['it names a property of objects', 'kv/{{identity.entity.metadata.constructor}}'],
    ['the entity has no such metadata', 'kv/{{identity.entity.metadata.missing}}'],
    ['the entity has no alias at the mount', 'kv/{{identity.entity.aliases.auth_2.name}}'],
    ['the entity is not in the group of the ID', 'kv/{{identity.groups.ids.g2.name}}'],
    ['the entity is not in the group of the name', 'kv/{{identity.groups.names.g1.id}}'],
    ['one of several values is missing', 'kv/{{identity.entity.id}}/{{identity.entity.metadata.missing}}'],
    ['a value is empty, so that the path would apply to others', 'kv/{{identity.entity.metadata.empty}}*'],
    ['a value contains * (CVE-2026-71543)', 'kv/{{identity.entity.metadata.star}}'],
    ['a value is the segment +', 'kv/{{identity.entity.metadata.plus}}/a'],
    ['a value contains a slash (CVE-2026-5006)', 'kv/{{identity.entity.metadata.folders}}'],
    ['there is nothing between the braces', 'kv/{{}}'],
    ['there are three braces', 'kv/{{{identity.entity.id}}}'],
    ['values are joined to the segment +', 'kv/{{identity.entity.metadata.plus}}*'],
  ])('%s', (_reason, path) => expect(resolvedPath(path, values)).toBeUndefined());
});

test('a value that contains a template is not resolved again', () => {
  const odd = { ...values, name: '{{identity.entity.id}}' };
  expect(resolvedPath('kv/{{identity.entity.name}}', odd)).toBe('kv/{{identity.entity.id}}');
});

const rule = (path: string, ...capabilities: PathRule['capabilities']): PathRule => ({ path, capabilities });
const on = (rules: PathRule[], path: string) =>
  compilePolicies([{ paths: rules }])
    .withValues(values)
    .on({ path }).capabilities;

describe('compiled policies with templates', () => {
  const own = 'kv/{{identity.entity.id}}/*';

  test('grant nothing there before the values are known, and the same without templates', () => {
    const compiled = compilePolicies([{ paths: [rule(own, 'read'), rule('kv/shared', 'list')] }]);
    expect(compiled.hasTemplates).toBe(true);
    expect(compiled.paths).toBe(2);
    expect(compiled.on({ path: 'kv/e1/a' }).capabilities).toEqual([]);
    expect(compiled.on({ path: own }).capabilities).toEqual([]);
    expect(compiled.on({ path: 'kv/shared' }).capabilities).toEqual(['list']);
    expect(compiled.withValues(values).on({ path: 'kv/e1/a' }).capabilities).toEqual(['read']);
    expect(compiled.withValues({ ...values, id: 'e2' }).on({ path: 'kv/e1/a' }).capabilities).toEqual([]);
    expect(compilePolicies([{ paths: [rule('kv/*', 'read')] }]).hasTemplates).toBe(false);
  });

  test('rank a resolved path among the others', () => {
    expect(on([rule(own, 'read'), rule('kv/*', 'list')], 'kv/e1/a')).toEqual(['read']);
    expect(on([rule(own, 'read'), rule('kv/e1/a', 'list')], 'kv/e1/a')).toEqual(['list']);
    expect(on([rule(own, 'read'), rule('kv/+/a', 'list')], 'kv/e1/a')).toEqual(['read']);
  });

  test('combine a resolved path with the same path in other policies; deny overrides', () => {
    expect(on([rule(own, 'read'), rule('kv/e1/*', 'list')], 'kv/e1/a')).toEqual(['read', 'list']);
    expect(on([rule(own, 'read'), rule('kv/e1/*', 'deny')], 'kv/e1/a')).toEqual([]);
    expect(on([rule(own, 'deny'), rule('kv/e1/*', 'read')], 'kv/e1/a')).toEqual([]);
  });

  test('apply to listing folders', () => {
    const folder = [rule('kv/metadata/{{identity.entity.id}}/', 'list')];
    const compiled = compilePolicies([{ paths: folder }]).withValues(values);
    expect(compiled.onFolder({ path: 'kv/metadata/e1' }).capabilities).toEqual(['list']);
  });
});
