import { describe, expect, test } from '@jest/globals';
import { parsePolicy } from './parse-policy.ts';

/** A policy with a number of paths that contain `+`. */
function plusPaths(count: number): string {
  const paths = Array.from({ length: count }, (_, index) => [`a/+/${index}`, { capabilities: ['read'] }]);
  return JSON.stringify({ path: Object.fromEntries(paths) });
}

describe('an invalid policy is refused', () => {
  test.each<[string, RegExp]>([
    ['path "a" {\n  capabilities = ["read"\n}', /line 3, column 2/],
    ['path "a" {\n capabilities = ["read"]\n', /line 3.*EOF/],
    ['{"path": {"a":\n ]}', /invalid JSON/],
    ['{"path":{"a":{"capabilities":["deny"]},"a":{"capabilities":["read"]}}}', /"a" occurs twice/],
    ['{"path":{"a":{"capabilities":["deny"],"capabilities":["read"]}}}', /"capabilities" occurs twice/],
    [
      '{"path":{"a":{"capabilities":["deny"]}},"p\\u0061th":{"b":{"capabilities":["read"]}}}',
      /"path" occurs twice/,
    ],
    ['', /contains no path/],
    ['# nothing', /contains no path/],
    ['{}', /contains no path/],
    ['path { capabilities = [] }', /has no block/],
    ['path "a" {}', /"a": capabilities must be a list/],
    ['path "a" { capabilities = "read" }', /capabilities must be a list/],
    ['path "a" { capabilities = ["reed"] }', /"reed" is not a capability/],
    ['path "a" { capabilities = [1] }', /1 is not a capability/],
    ['path "a" { policy = "read" }', /policy is not supported/],
    ['path "a" "b" { capabilities = ["read"] }', /b is not supported/],
    [
      'path "a" { capabilities = ["read"] allowed_parameters = { "x" = [] } }',
      /allowed_parameters is not supported/,
    ],
    ['name = "x"\npath "a" { capabilities = ["read"] }', /name is unknown/],
    ['path "a/{{identity.entity.id}}" { capabilities = ["read"] }', /templates are not supported/],
    ['path "a*b" { capabilities = ["read"] }', /"a\*b".*last character/],
    ['path "" { capabilities = ["read"] }', /empty/],
    [`#${'x'.repeat(70_000)}`, /64 KiB/],
    [plusPaths(201), /at most 200 paths with \+/],
    [`a = ${'[ '.repeat(30_000)}`, /nested too deeply/],
    [`{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}`, /a is unknown/],
    [`a = ${'[1,'.repeat(20_000)}`, /nested too deeply/],
  ])('%#', async (source, expected) => {
    await expect(parsePolicy(source)).rejects.toThrow(expected);
  });
});

test('HCL: comments, several blocks, the same path twice', async () => {
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

test('JSON: the same name in different places, and texts that look like names', async () => {
  const source = '{"path":{"a\\":":{"capabilities":["read"]},"capabilities":{"capabilities":["read"]}}}';
  expect((await parsePolicy(source)).paths.map(({ path }) => path)).toEqual(['a":', 'capabilities']);
});

test.each(['{"path":{"a":{"capabilities":["deny"]}}}', '{"path":[{"a":[{"capabilities":["deny"]}]}]}'])(
  'JSON: %s',
  async (source) => {
    expect(await parsePolicy(source)).toEqual({ paths: [{ path: 'a', capabilities: ['deny'] }] });
  },
);

test('the largest policy is read within its time', async () => {
  const source = Array.from(
    { length: 900 },
    (_, index) => `path "kv/data/x${index}/*" { capabilities = ["read", "list"] }`,
  );
  expect((await parsePolicy(source.join('\n'))).paths).toHaveLength(900);
});

test.each([
  ['quotes that never end', `path "a" { capabilities = ["read"] } "${'\\"'.repeat(32_000)}`],
  ['comments that never end', `path "a" { capabilities = ["read"] } ${'/* '.repeat(21_000)}`],
])('%s hold up nobody else', async (_name, source) => {
  let isRead = false;
  const refused = parsePolicy(source).catch(() => {
    isRead = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(isRead).toBe(false); // others have had their turn meanwhile
  await refused;
});

test('as many paths with + as are looked at in no time', async () => {
  expect((await parsePolicy(plusPaths(200))).paths).toHaveLength(200);
});
