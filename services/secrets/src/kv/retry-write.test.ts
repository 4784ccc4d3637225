import { expect, test } from '@jest/globals';
import { retryWrite } from './retry-write.ts';

test('repeats a write that a concurrent writer prevented', async () => {
  let attempts = 0;
  expect(await retryWrite(async () => (++attempts < 3 ? undefined : 'written'))).toBe('written');
  expect(attempts).toBe(3);
});

test('gives up with `unavailable` after 50 attempts', async () => {
  let attempts = 0;
  const write = retryWrite(async () => void attempts++);
  await expect(write).rejects.toMatchObject({ kind: 'unavailable' });
  expect(attempts).toBe(50);
});
