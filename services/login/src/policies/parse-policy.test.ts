import { beforeAll, describe, expect, test } from '@jest/globals';
import { parsePolicy as parsePolicyOf } from './parse-policy.ts';
import { readHcl } from './read-hcl.ts';

const parsePolicy = (source: string) => parsePolicyOf(source, 'root');

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
    ['HCL with a syntax error', 'path "a" {\n  capabilities = ["read"\n}', /line 3, column 2/],
    ['HCL that ends too early', 'path "a" {\n capabilities = ["read"]\n', /line 3.*EOF/],
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
    ['a name without a value', 'deny=', /contains no path/],
    ['base64 that is cut off', 'cGF0aCAi=', /contains no path/],
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
  ])('%s', async (_what, source, expected) => {
    await expect(parsePolicy(source)).rejects.toThrow(expected);
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
  let read: string[];

  /** All are read together: a thread takes longer than its work. */
  beforeAll(async () => {
    const { path } = (await readHcl(refused.map(([, source]) => source).join('\n'), 'root')) as {
      path: object[];
    };
    expect(path).toHaveLength(refused.length);
    read = path.map((block) => JSON.stringify({ path: [block] }));
  });

  test.each(refused.map(([what, , expected], nth) => [what, expected, nth] as const))(
    '%s',
    async (_what, expected, nth) => {
      await expect(parsePolicy(read[nth]!)).rejects.toThrow(expected);
    },
  );
});

test.each([' ', '# nothing', '// nothing', '/* nothing */', '{}', '{"path":{}}', 'name = "x"'])(
  'a policy may have no path: %j',
  async (source) => expect(await parsePolicy(source)).toEqual({ paths: [] }),
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
      { capabilities: ['update', 'read', 'list'] },
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
  let paths: unknown[];

  beforeAll(async () => {
    const source = blocks.map(([, block]) => `path "a" { ${block} }`);
    ({ paths } = await parsePolicy(source.join('\n')));
  });

  test.each(blocks.map(([what, , rule], nth) => [what, rule, nth] as const))('%s', (_what, rule, nth) => {
    expect(paths[nth]).toEqual({ path: 'a', ...rule });
  });
});

test('restrictions may be written in JSON', async () => {
  const block = {
    capabilities: ['update'],
    allowed_parameters: { x: ['y', 1], __proto: [] },
    required_parameters: ['x'],
    min_wrapping_ttl: '1m',
  };
  expect(await parsePolicy(JSON.stringify({ path: { a: block } }))).toEqual({
    paths: [{ path: 'a', ...block, min_wrapping_ttl: 60 }],
  });
});

test('a path may have templates and braces', async () => {
  const all = ['a/{{identity.entity.id}}/*', 'a/{{ identity.entity.name }}', '{{foo}}', 'a/{x}'];
  const { paths } = await parsePolicy(all.map((path) => `path "${path}" {}`).join('\n'));
  expect(paths).toEqual(all.map((path) => ({ path, capabilities: [] })));
});

test('HCL may contain comments, several blocks on a line, and a path twice', async () => {
  const policy = await parsePolicy(`
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

test('JSON may contain the same name in different objects, and strings that look like names', async () => {
  const source = '{"path":{"a\\":":{"capabilities":["read"]},"capabilities":{"capabilities":["read"]}}}';
  expect((await parsePolicy(source)).paths.map(({ path }) => path)).toEqual(['a":', 'capabilities']);
});

test.each(['{"path":{"a":{"capabilities":["deny"]}}}', '{"path":[{"a":[{"capabilities":["deny"]}]}]}'])(
  'JSON may have blocks as objects or as lists: %s',
  async (source) => {
    expect(await parsePolicy(source)).toEqual({ paths: [{ path: 'a', capabilities: ['deny'] }] });
  },
);

test('a policy of 64 KiB is parsed within the time limit', async () => {
  const source = Array.from(
    { length: 1_200 },
    (_, index) => `path "kv/x${index}/*" { capabilities = ["read","list"] }`,
  );
  expect((await parsePolicy(source.join('\n'))).paths).toHaveLength(1_200);
});

test.each([
  ['quotes that never end', `path "a" { capabilities = ["read"] } "${'\\"'.repeat(32_000)}`],
  ['comments that never end', `path "a" { capabilities = ["read"] } ${'/* '.repeat(21_000)}`],
])('%s do not block other requests', async (_name, source) => {
  let isRefused = false;
  const refused = parsePolicy(source).catch(() => {
    isRefused = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(isRefused).toBe(false); // others had their turn meanwhile
  await refused;
  expect(isRefused).toBe(true);
});

test('a policy may have 1,000 values of parameters', async () => {
  expect((await parsePolicy(deniedValues(1_000))).paths).toHaveLength(1);
});

test('a policy may have 200 paths with +', async () => {
  expect((await parsePolicy(plusPaths(200))).paths).toHaveLength(200);
});
