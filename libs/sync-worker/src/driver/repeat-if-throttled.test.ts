import { expect, test } from '@jest/globals';
import { Fault } from '@secrets/domain';
import { repeatIfThrottled } from './repeat-if-throttled.ts';

const throttled = (retryAfterSeconds?: number) =>
  new Fault('throttled', 'too many requests', retryAfterSeconds === undefined ? {} : { retryAfterSeconds });

/** A call that fails with these errors, one after the other, and then succeeds. Counts its calls. */
function failing(...errors: Error[]) {
  let calls = 0;
  const call = async () => {
    calls += 1;
    const error = errors.shift();
    if (error !== undefined) throw error;
    return calls;
  };
  return call;
}

const begun = async (): Promise<AbortSignal> => {
  const { signal } = new AbortController();
  await repeatIfThrottled(signal, async () => undefined);
  return signal;
};

test('repeats a throttled call once, unless it is the first of its attempt', async () => {
  await expect(repeatIfThrottled(new AbortController().signal, failing(throttled()))).rejects.toThrow(Fault);
  expect(await repeatIfThrottled(await begun(), failing(throttled()))).toBe(2);
  await expect(repeatIfThrottled(await begun(), failing(throttled(), throttled()))).rejects.toThrow(Fault);
});

test.each([
  ['the provider asks for more than ten seconds', throttled(11)],
  ['of another fault', new Fault('unavailable', 'down')],
])('does not repeat a call if %s', async (_, error) => {
  await expect(repeatIfThrottled(await begun(), failing(error))).rejects.toBe(error);
});

test('waits for as long as the provider asks', async () => {
  const started = performance.now();
  expect(await repeatIfThrottled(await begun(), failing(throttled(0.3)))).toBe(2);
  expect(performance.now() - started).toBeGreaterThan(300);
});

test('does not repeat a call of an attempt that ends meanwhile', async () => {
  const ending = new AbortController();
  await repeatIfThrottled(ending.signal, async () => undefined);
  const repeated = repeatIfThrottled(ending.signal, failing(throttled(5)));
  setTimeout(() => ending.abort(), 20);
  await expect(repeated).rejects.toMatchObject({ kind: 'throttled' });
});

test('does not repeat a call of an attempt that is over', async () => {
  const over = new AbortController();
  await repeatIfThrottled(over.signal, async () => undefined);
  over.abort();
  await expect(repeatIfThrottled(over.signal, failing(throttled()))).rejects.toThrow(Fault);
});

test('lets an attempt of three calls through a store that refuses every third one', async () => {
  let calls = 0;
  const call = async () => {
    calls += 1;
    if (calls % 3 === 0) throw throttled();
  };
  const { signal } = new AbortController();
  for (let at = 0; at < 3; at += 1) await repeatIfThrottled(signal, call);
  expect(calls).toBe(4);
});
