import { expect, test } from '@jest/globals';
import { idempotencyToken } from './push-identity.ts';

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
