import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parsePolicy } from './parse-policy.ts';

/** A policy with a number of paths that contain `+`. */
function plusPaths(count: number): string {
  const paths = Array.from({ length: count }, (_, index) => [`a/+/${index}`, { capabilities: ['read'] }]);
  return JSON.stringify({ path: Object.fromEntries(paths) });
}

/** A policy that denies a number of values of two parameters. */
function deniedValues(count: number): string {
  const values = Array.from({ length: count - 1 }, (_, index) => index);
  const denied = { capabilities: ['update'], denied_parameters: { a: values, b: [0] } };
  return JSON.stringify({ path: { a: denied } });
}

describe('a policy is refused if it is or contains', () => {
  test.each<[string, string, RegExp]>([
    [
      'HCL with a syntax error',
      'path "a" {\n  capabilities = ["read"\n}',
      /line 3, column 1: expected a comma or \], got }/,
    ],
    [
      'HCL that ends too early',
      'path "a" {\n capabilities = ["read"]\n',
      /line 3, column 1: .*got the end of the text/,
    ],
    ['JSON with a syntax error', '{"path": {"a":\n ]}', /invalid JSON/],
    [
      'JSON with a path twice',
      '{"path":{"a":{"capabilities":["deny"]},"a":{"capabilities":["read"]}}}',
      /"a" occurs twice/,
    ],
    [
      'JSON with a field twice',
      '{"path":{"a":{"capabilities":["deny"],"capabilities":["read"]}}}',
      /"capabilities" occurs twice/,
    ],
    [
      'JSON with a name twice, once escaped',
      '{"path":{"a":{"capabilities":["deny"]}},"p\\u0061th":{"b":{"capabilities":["read"]}}}',
      /"path" occurs twice/,
    ],
    ['a block without a path', 'path { capabilities = [] }', /has no block/],
    ['a block with two labels', 'path "a" "b" { capabilities = ["read"] }', /b is not supported/],
    ['a field beside the paths', 'limit = 1\npath "a" { capabilities = ["read"] }', /limit is unknown/],
    ['a name without a value', 'deny=', /column 6: expected a value, got the end of the text/],
    ['base64 that is cut off', 'cGF0aCAi=', /expected a value/],
    ['a misspelt block', 'pth "a" { capabilities = ["deny"] }', /pth is unknown/],
    ['more than 64 KiB', `#${'x'.repeat(70_000)}`, /64 KiB/],
    ['too many paths with +', plusPaths(201), /at most 200 paths with \+/],
    ['too many values of parameters', deniedValues(1_001), /at most 1000 values of parameters/],
    ['HCL nested too deeply', `a = ${'[ '.repeat(30_000)}`, /nested too deeply/],
    [
      'JSON nested too deeply',
      `{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}`,
      /nested deeper than 16 levels/,
    ],
    ['HCL lists nested too deeply', `a = ${'[1,'.repeat(20_000)}`, /nested too deeply/],
  ])('%s', (_what, source, expected) => {
    expect(() => parsePolicy(source)).toThrow(expected);
  });
});

/** HCL of one block each. */
const refused: [string, string, RegExp][] = [
  ['capabilities that are not a list', 'path "a" { capabilities = "read" }', /capabilities must be a list/],
  ['an unknown capability', 'path "a" { capabilities = ["reed"] }', /"reed" is not a capability/],
  ['a capability that is not a string', 'path "a" { capabilities = [1] }', /1 is not a capability/],
  ['an unknown field', 'path "a" { capabilities = ["read"] foo = 1 }', /"a": foo is not supported/],
  ['a limit of pages', 'path "a" { pagination_limit = 5 }', /pagination_limit is not supported/],
  ['an expiration', 'path "a" { expiration = "2030-01-01T00:00:00Z" }', /expiration is not supported/],
  ['an unknown shorthand', 'path "a" { policy = "all" }', /policy must be one of deny, read, write, sudo/],
  ['a shorthand that is not a word', 'path "a" { policy = ["read"] }', /policy must be one of/],
  [
    'parameters without lists',
    'path "a" { allowed_parameters = { "x" = "y" } }',
    /the values of x must be a list/,
  ],
  [
    'parameters in a list',
    'path "a" { denied_parameters = ["x"] }',
    /denied_parameters must map names to lists/,
  ],
  [
    'a required parameter that is not in a list',
    'path "a" { required_parameters = "x" }',
    /must be a list of names/,
  ],
  [
    'a required parameter that is not a name',
    'path "a" { required_parameters = [["x"]] }',
    /must be a list of names/,
  ],
  [
    'event types that are not a list',
    'path "a" { subscribe_event_types = "kv*" }',
    /must be a list of names/,
  ],
  [
    'an empty event type',
    'path "a" { capabilities = ["subscribe"] subscribe_event_types = [""] }',
    /an event type must not be empty/,
  ],
  [
    'more than 32 event types',
    `path "a" { capabilities = ["subscribe"] subscribe_event_types = [${'"a",'.repeat(33)}] }`,
    /at most 32 event types/,
  ],
  [
    'a limit for wrapping that is no duration',
    'path "a" { min_wrapping_ttl = "x" }',
    /min_wrapping_ttl must be a duration/,
  ],
  [
    'limits for wrapping that exclude each other',
    'path "a" { min_wrapping_ttl = "2h" max_wrapping_ttl = "1h" }',
    /min_wrapping_ttl exceeds max_wrapping_ttl/,
  ],
  [
    'a template without its end',
    'path "a/{{identity.entity.id" { }',
    /must begin with \{\{ and end with \}\}/,
  ],
  ['a template without its beginning', 'path "a/identity.entity.id}}" { }', /must begin with/],
  ['a wildcard that is not last', 'path "a*b" { capabilities = ["read"] }', /"a\*b".*last character/],
  ['an empty path', 'path "" { capabilities = ["read"] }', /empty/],
  ['a path with more than 32 +', `path "${'a/+/'.repeat(33)}" { }`, /"a\/\+.*at most 32 segments \+/],
];

describe('a block is refused if it has', () => {
  test.each(refused)('%s', (_what, source, expected) => {
    expect(() => parsePolicy(source)).toThrow(expected);
  });
});

test.each([' ', '# nothing', '// nothing', '/* nothing */', '{}', '{"path":{}}', 'name = "x"'])(
  'a policy may have no path: %j',
  (source) => expect(parsePolicy(source)).toEqual({ paths: [] }),
);

describe('a path may have', () => {
  const all = ['create', 'read', 'update', 'delete', 'list'];
  const blocks: [string, string, object][] = [
    ['no capabilities', '', { capabilities: [] }],
    ['a comment', 'comment = "x" capabilities = ["read"]', { capabilities: ['read'] }],
    ['the shorthand read', 'policy = "read"', { capabilities: ['read', 'list'] }],
    ['the shorthand write', 'policy = "write"', { capabilities: all }],
    ['the shorthand sudo', 'policy = "sudo"', { capabilities: [...all, 'sudo'] }],
    ['the shorthand deny', 'policy = "deny"', { capabilities: ['deny'] }],
    [
      'a shorthand and capabilities',
      'policy = "read" capabilities = ["update"]',
      { capabilities: ['read', 'list', 'update'] },
    ],
    [
      'the capability to subscribe, with event types',
      'capabilities = ["list", "subscribe"] subscribe_event_types = ["kv*"]',
      { capabilities: ['list'], subscribe_event_types: ['kv*'] },
    ],
    [
      'the capability to subscribe, without event types',
      'capabilities = ["subscribe"]',
      { capabilities: [], subscribe_event_types: [] },
    ],
    [
      'event types without the capability, which have no effect',
      'capabilities = ["read"] subscribe_event_types = ["*"]',
      { capabilities: ['read'] },
    ],
    ['a capability of a verb that does not exist here', 'capabilities = ["scan"]', { capabilities: [] }],
    [
      'parameters with values of all kinds',
      'allowed_parameters = { "x" = [1, 1.5, true, "a", ["b"]] "*" = [] }',
      { capabilities: [], allowed_parameters: { x: [1, 1.5, true, 'a', ['b']], '*': [] } },
    ],
    [
      'parameters in several blocks',
      'denied_parameters { "x" = ["1"] } denied_parameters { "x" = ["2"] "y" = [] }',
      { capabilities: [], denied_parameters: { x: ['1', '2'], y: [] } },
    ],
    [
      'a block with any value, and one with some',
      'denied_parameters { "x" = [] } denied_parameters { "x" = ["2"] }',
      { capabilities: [], denied_parameters: { x: [] } },
    ],
    ['required parameters', 'required_parameters = ["x"]', { capabilities: [], required_parameters: ['x'] }],
    [
      'limits for wrapping',
      'min_wrapping_ttl = "1m" max_wrapping_ttl = 3600',
      { capabilities: [], min_wrapping_ttl: 60, max_wrapping_ttl: 3600 },
    ],
  ];

  test.each(blocks)('%s', (_what, block, rule) => {
    expect(parsePolicy(`path "a" { ${block} }`).paths).toEqual([{ path: 'a', ...rule }]);
  });
});

test('restrictions may be written in JSON', () => {
  const block = {
    capabilities: ['update'],
    allowed_parameters: { x: ['y', 1], __proto: [] },
    required_parameters: ['x'],
    min_wrapping_ttl: '1m',
  };
  expect(parsePolicy(JSON.stringify({ path: { a: block } }))).toEqual({
    paths: [{ path: 'a', ...block, min_wrapping_ttl: 60 }],
  });
});

test('a path may have templates and braces', () => {
  const all = ['a/{{identity.entity.id}}/*', 'a/{{ identity.entity.name }}', '{{foo}}', 'a/{x}'];
  const { paths } = parsePolicy(all.map((path) => `path "${path}" {}`).join('\n'));
  expect(paths).toEqual(all.map((path) => ({ path, capabilities: [] })));
});

test('HCL may contain comments, several blocks on a line, and a path twice', () => {
  const policy = parsePolicy(`
    # one
    // two
    /* three
       "path" */
    path "secret/data/*" { capabilities = ["read", "list",] } path "x/+/y" { capabilities = [] }
    path "secret/data/*" {
      capabilities = ["create"] // four
    }`);
  expect(policy).toEqual({
    paths: [
      { path: 'secret/data/*', capabilities: ['read', 'list'] },
      { path: 'x/+/y', capabilities: [] },
      { path: 'secret/data/*', capabilities: ['create'] },
    ],
  });
});

test('JSON may contain the same name in different objects, and strings that look like names', () => {
  const source = '{"path":{"a\\":":{"capabilities":["read"]},"capabilities":{"capabilities":["read"]}}}';
  expect(parsePolicy(source).paths.map(({ path }) => path)).toEqual(['a":', 'capabilities']);
});

test.each(['{"path":{"a":{"capabilities":["deny"]}}}', '{"path":[{"a":[{"capabilities":["deny"]}]}]}'])(
  'JSON may have blocks as objects or as lists: %s',
  (source) => {
    expect(parsePolicy(source)).toEqual({ paths: [{ path: 'a', capabilities: ['deny'] }] });
  },
);

test('a policy may have 2,000 paths, in HCL and in JSON', () => {
  const paths = Array.from({ length: 2_000 }, (_, index) => `k/${index}`);
  const hcl = paths.map((path) => `path "${path}"{policy="read"}`).join('\n');
  const json = JSON.stringify({ path: Object.fromEntries(paths.map((path) => [path, { policy: 'read' }])) });
  expect(parsePolicy(hcl).paths.map(({ path }) => path)).toEqual(paths);
  expect(parsePolicy(json)).toEqual(parsePolicy(hcl));
  expect(() => parsePolicy(`${hcl} path "one more" {}`)).toThrow('at most 2000 paths');
});

describe('the same policy in HCL and in JSON', () => {
  const name = fc.oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }),
    fc.constantFrom('*', '__proto__'),
  );
  const value = fc.oneof(name, fc.integer(), fc.boolean(), fc.array(fc.integer(), { maxLength: 2 }));
  const values = fc.dictionary(name, fc.array(value, { maxLength: 3 }), { maxKeys: 3 });
  const block = fc.record(
    {
      capabilities: fc.subarray(['create', 'read', 'update', 'delete', 'list', 'sudo', 'subscribe', 'deny']),
      policy: fc.constantFrom('read', 'write', 'sudo', 'deny'),
      allowed_parameters: values,
      denied_parameters: values,
      required_parameters: fc.array(name, { maxLength: 3 }),
      min_wrapping_ttl: fc.constantFrom('1m', 60),
      subscribe_event_types: fc.array(name, { maxLength: 3 }),
      comment: name,
    },
    { requiredKeys: [] },
  );
  const path = fc.array(
    name.map((text) => text.replace(/[*+{}]/g, 'x')),
    { minLength: 1, maxLength: 3 },
  );
  const policy = fc.dictionary(
    path.map((segments) => segments.join('/')),
    fc.array(block, { minLength: 1, maxLength: 2 }),
    {
      maxKeys: 4,
    },
  );
  const gap = fc.constantFrom(' ', '\n', '\t\r\n', ' # a "\n', ' // }\n', ' /* " ] */ ');

  /** A string in HCL, in which `${` would begin an interpolation. */
  const quoted = (text: string) =>
    JSON.stringify(text).replace(/\$\{/g, '\\u0024{').replace(/\x7f/g, '\\x7f');

  const asHcl = (content: unknown, between: () => string): string => {
    if (Array.isArray(content))
      return `[${content.map((item) => asHcl(item, between)).join(`,${between()}`)}${content.length > 0 ? ',' : ''}]`;
    if (typeof content === 'string') return quoted(content);
    if (typeof content !== 'object') return String(content);
    const fields = Object.entries(content as object).map(
      ([key, field]) =>
        `${/^[a-z_]+$/.test(key) ? key : quoted(key)}${between()}=${between()}${asHcl(field, between)}`,
    );
    return `{${between()}${fields.join(between())}${between()}}`;
  };

  test('has the same rules, however it is laid out', () => {
    fc.assert(
      fc.property(policy, fc.infiniteStream(gap), (paths, gaps) => {
        const between = () => gaps.next().value as string;
        const blocks = Object.entries(paths).flatMap(([where, bodies]) =>
          bodies.map((body) => `path${between()}${quoted(where)}${asHcl(body, between)}${between()}`),
        );
        expect(outcomeOf(blocks.join(''))).toEqual(outcomeOf(JSON.stringify({ path: paths })));
      }),
    );
  });

  /** A refusal can be one of several that apply. */
  const outcomeOf = (source: string) => {
    try {
      return parsePolicy(source);
    } catch (error) {
      return (error as Error).message;
    }
  };
});

test('a policy may have 1,000 values of parameters', () => {
  expect(parsePolicy(deniedValues(1_000)).paths).toHaveLength(1);
});

test('a policy may have 200 paths with +', () => {
  expect(parsePolicy(plusPaths(200)).paths).toHaveLength(200);
});
