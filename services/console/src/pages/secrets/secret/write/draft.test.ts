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

test('anything but a text of one line is JSON in its field, and keeps its value', () => {
  const data = { a: 'x', b: 1, c: 'line 1\nline 2' };
  expect(draftOf(data)).toEqual({
    form: 'pairs',
    pairs: [
      { key: 'a', value: 'x' },
      { key: 'b', value: '1', isJson: true },
      { key: 'c', value: '"line 1\\nline 2"', isJson: true },
    ],
  });
  expect(dataOfDraft(draftOf(data))).toEqual(data);
});

test('a value that is not JSON is refused without repeating it', () => {
  const draft = { form: 'pairs' as const, pairs: [{ key: 'a', value: 'canary', isJson: true as const }] };
  expect(dataOfDraft(draft)).toBe('The value of a is not JSON.');
});

test('a key without characters is kept, as JSON', () => {
  expect(dataOfDraft(draftOf({ '': 'x' }))).toEqual({ '': 'x' });
});

test('switching keeps the data, and does nothing where a form cannot hold it', () => {
  expect(switched(pairs(['a', 'x']))).toEqual(json('{\n  "a": "x"\n}'));
  expect(switched(json('{"a": "x"}'))).toEqual(pairs(['a', 'x']));
  expect(switched(json('{"": 1}'))).toMatchObject({ form: 'json' });
  expect(switched(json('{'))).toEqual(json('{'));
});
