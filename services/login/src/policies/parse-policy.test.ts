import { describe, expect, test } from '@jest/globals';
import { parsePolicy } from './parse-policy.ts';

/** A policy with a number of paths that contain `+`. */
function plusPaths(count: number): string {
  const paths = Array.from({ length: count }, (_, index) => [`a/+/${index}`, { capabilities: ['read'] }]);
  return JSON.stringify({ path: Object.fromEntries(paths) });
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
    ['empty text', '', /contains no path/],
    ['only a comment', '# nothing', /contains no path/],
    ['an empty object', '{}', /contains no path/],
    ['a block without a path', 'path { capabilities = [] }', /has no block/],
    ['a path without capabilities', 'path "a" {}', /"a": capabilities must be a list/],
    ['capabilities that are not a list', 'path "a" { capabilities = "read" }', /capabilities must be a list/],
    ['an unknown capability', 'path "a" { capabilities = ["reed"] }', /"reed" is not a capability/],
    ['a capability that is not a string', 'path "a" { capabilities = [1] }', /1 is not a capability/],
    ['a field instead of capabilities', 'path "a" { policy = "read" }', /policy is not supported/],
    ['a block with two labels', 'path "a" "b" { capabilities = ["read"] }', /b is not supported/],
    [
      'parameters',
      'path "a" { capabilities = ["read"] allowed_parameters = { "x" = [] } }',
      /allowed_parameters is not supported/,
    ],
    ['a field beside the paths', 'name = "x"\npath "a" { capabilities = ["read"] }', /name is unknown/],
    [
      'a template',
      'path "a/{{identity.entity.id}}" { capabilities = ["read"] }',
      /templates are not supported/,
    ],
    ['a wildcard that is not last', 'path "a*b" { capabilities = ["read"] }', /"a\*b".*last character/],
    ['an empty path', 'path "" { capabilities = ["read"] }', /empty/],
    ['more than 64 KiB', `#${'x'.repeat(70_000)}`, /64 KiB/],
    ['too many paths with +', plusPaths(201), /at most 200 paths with \+/],
    ['HCL nested too deeply', `a = ${'[ '.repeat(30_000)}`, /nested too deeply/],
    ['JSON nested too deeply', `{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}`, /a is unknown/],
    ['HCL lists nested too deeply', `a = ${'[1,'.repeat(20_000)}`, /nested too deeply/],
  ])('%s', async (_what, source, expected) => {
    await expect(parsePolicy(source)).rejects.toThrow(expected);
  });
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
    { length: 900 },
    (_, index) => `path "kv/data/x${index}/*" { capabilities = ["read", "list"] }`,
  );
  expect((await parsePolicy(source.join('\n'))).paths).toHaveLength(900);
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

test('a policy may have 200 paths with +', async () => {
  expect((await parsePolicy(plusPaths(200))).paths).toHaveLength(200);
});
