import { expect, test } from '@jest/globals';
import { parseExactly } from '@secrets/domain';
import { useSecrets } from './secrets-for-test.ts';

const secrets = useSecrets();
const { call } = secrets;
const write = (path: string, text: string) => call('POST', `/kv/data/${path}`, { data: parseExactly(text) });
const read = async (path: string) => JSON.stringify((await call('GET', `/kv/data/${path}`)).body.data.data);

const numbers =
  '{"id":9007199254740993,"price":1.10,"zero":-0,"tiny":1e-400,"list":[123456789012345678901234567890,1e3]}';

test('numbers of a secret are returned digit for digit', async () => {
  expect((await write('exact', numbers)).status).toBe(200);
  expect(await read('exact')).toBe(numbers);
});

test('a patch keeps the numbers that it does not mention, and the digits of those that it does', async () => {
  await write('patched', numbers);
  const patch = parseExactly('{"price":2.50,"zero":null,"list":null,"deep":{"id":9007199254740995}}');
  expect((await call('PATCH', '/kv/data/patched', { data: patch })).status).toBe(200);
  expect(await read('patched')).toBe(
    '{"id":9007199254740993,"price":2.50,"tiny":1e-400,"deep":{"id":9007199254740995}}',
  );
});

test('a patch can replace an object by such a number, and the reverse', async () => {
  await write('replaced', '{"a":{"b":1},"c":1.10}');
  await call('PATCH', '/kv/data/replaced', { data: parseExactly('{"a":2.0,"c":{"d":3.0}}') });
  expect(await read('replaced')).toBe('{"a":2.0,"c":{"d":3.0}}');
});

test('subkeys shows null for such a number', async () => {
  await write('sub', numbers);
  const { subkeys } = (await call('GET', '/kv/subkeys/sub')).body.data;
  expect(subkeys).toEqual({ id: null, price: null, zero: null, tiny: null, list: null });
});

test('such a number is no level of nesting, and no object', async () => {
  const nested = (levels: number): string => (levels === 0 ? '1.0' : `{"a":${nested(levels - 1)}}`);
  expect((await write('nested', nested(100))).status).toBe(200);
  const bare = await write('bare', '1.0');
  expect([bare.status, bare.body.errors]).toEqual([400, ['data: must be a JSON object']]);
});

test('the size of what would be pushed counts the digits', async () => {
  await write('sizes', '{"id":9007199254740993,"price":1.10}');
  const { body } = await secrets.callInternal('/internal/secrets/preview', {
    namespace_id: 'root',
    mount: 'kv',
    secret_name: 'sizes',
  });
  expect(body.data).toMatchObject({ value_bytes: 36, key_bytes: [16, 4] });
});

test('numbers outside of secrets may be written in any way, but may not lose digits', async () => {
  const options = parseExactly('{"cas":0.0}');
  expect((await call('POST', '/kv/data/options', { data: {}, options })).status).toBe(200);
  const inexact = parseExactly('{"cas":9007199254740993}');
  const refused = await call('POST', '/kv/data/options', { data: {}, options: inexact });
  expect([refused.status, refused.body.errors]).toEqual([
    400,
    ['options.cas: the number would lose digits; send it as a string'],
  ]);
});
