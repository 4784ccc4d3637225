import { expect, test } from '@jest/globals';
import { eventually } from './eventually.ts';

const options = { timeoutMs: 20, intervalMs: 1 };

test('repeats a check that throws or returns false, and returns its result', async () => {
  let calls = 0;
  const check = async () => {
    calls += 1;
    if (calls === 1) throw new Error('not yet');
    return calls === 2 ? false : calls;
  };
  expect(await eventually(check)).toBe(3);
});

test('throws the last error of the check after the timeout', async () => {
  let calls = 0;
  const check = () => {
    calls += 1;
    throw new Error(`call ${calls}`);
  };
  await expect(eventually(check, options)).rejects.toThrow(/^call \d+$/);
  expect(calls).toBeGreaterThan(1);
});

test('throws when the check returns false until the timeout', async () => {
  await expect(eventually(() => false, options)).rejects.toThrow('did not hold within 20 ms');
});
