import { expect, test } from '@jest/globals';
import { idempotencyToken, pushedValue } from './pushed-value.ts';

const data = JSON.stringify({ text: 'a "b"', number: 1, object: { deep: [null] }, empty: '' });

test.each([
  ['', data],
  ['text', 'a "b"'],
  ['number', '1'],
  ['object', '{"deep":[null]}'],
  ['empty', ''],
  ['absent', undefined],
  ['toString', undefined],
])('the value of sub-key %j is %j', (subKey, value) => {
  expect(pushedValue(data, subKey)).toBe(value);
});

test('a repeated put has the same token, and another entry, intent or value another one', () => {
  const entry = { id: 'e', generation: 1 };
  const token = idempotencyToken(entry, 'hash');
  expect(token).toMatch(/^[0-9a-f]{64}$/);
  expect(idempotencyToken({ ...entry }, 'hash')).toBe(token);
  const others = [
    idempotencyToken({ id: 'f', generation: 1 }, 'hash'),
    idempotencyToken({ id: 'e', generation: 2 }, 'hash'),
    idempotencyToken(entry, 'other'),
  ];
  expect(new Set([token, ...others]).size).toBe(4);
});
