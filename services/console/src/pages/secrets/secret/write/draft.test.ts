import { expect, test } from '@jest/globals';
import { dataOfDraft, draftOf, emptyDraft, switched } from './draft.ts';

const pairs = (...of: [string, string][]) => ({
  form: 'pairs' as const,
  pairs: of.map(([key, value]) => ({ key, value })),
});
const json = (text: string) => ({ form: 'json' as const, text });

test.each([
  [emptyDraft, 'Enter at least one key.'],
  [pairs(['a', '1'], ['a', '2']), 'The key a is there twice.'],
  [json('[1]'), 'The JSON must be an object.'],
  [json('null'), 'The JSON must be an object.'],
])('a draft that is not usable has a reason: %j', (draft, reason) => {
  expect(dataOfDraft(draft)).toBe(reason);
});

test('JSON that cannot be parsed is refused with the reason', () => {
  expect(dataOfDraft(json('{'))).toMatch(/^This is not JSON: /);
});

test('pairs without a key are left out, and values may be empty', () => {
  expect(dataOfDraft(pairs(['a', ''], ['', 'x']))).toEqual({ a: '' });
});

test('numbers keep all their digits', () => {
  const data = dataOfDraft(json('{"n": 12345678901234567890.10, "m": 1}'));
  expect(JSON.stringify(data)).toBe('{"n":12345678901234567890.10,"m":1}');
});

test('texts are shown as pairs, anything else as JSON', () => {
  expect(draftOf({ a: 'x' })).toEqual(pairs(['a', 'x']));
  expect(draftOf({ a: 'x', b: 1 })).toEqual(json('{\n  "a": "x",\n  "b": 1\n}'));
});

test('switching keeps the data, and does nothing where a form cannot hold it', () => {
  expect(switched(pairs(['a', 'x']))).toEqual(json('{\n  "a": "x"\n}'));
  expect(switched(json('{"a": "x"}'))).toEqual(pairs(['a', 'x']));
  expect(switched(json('{"a": 1}'))).toMatchObject({ form: 'json' });
  expect(switched(json('{'))).toEqual(json('{'));
});
