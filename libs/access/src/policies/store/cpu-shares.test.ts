import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { CpuShares } from './cpu-shares.ts';

/** Blocks the event loop, as compiling policies does. */
function compute(ms: number): void {
  const before = process.threadCpuUsage();
  const usedMs = () => {
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000;
  };
  while (usedMs() < ms);
}

test('work of a key that has used up its share waits, and that of others does not', async () => {
  const shares = new CpuShares();
  await shares.run('busy', async (timed) => timed(() => compute(550)));
  const started = performance.now();
  const ended: string[] = [];
  const run = (key: string) => shares.run(key, async () => void ended.push(key));
  const busy = run('busy');
  await run('other');
  expect(ended).toEqual(['other']);
  await busy;
  expect(performance.now() - started).toBeGreaterThan(300); // 50 ms beyond what it may use at once, of which it pays back a twentieth of the time
});

test('time in which the process does not compute is not used up', async () => {
  const shares = new CpuShares();
  await shares.run('k', async (timed) =>
    timed(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000)),
  );
  expect(await shares.run('k', async () => 'done')).toBe('done');
});

test('at most four reads of a key are in progress at once', async () => {
  const shares = new CpuShares();
  let running = 0;
  let most = 0;
  const work = async () => {
    running += 1;
    most = Math.max(most, running);
    await sleep(2);
    running -= 1;
  };
  await Promise.all(Array.from({ length: 40 }, () => shares.run('k', work)));
  expect(most).toBe(4);
});

test('a key that would have to wait for more than five seconds is refused, with the time to wait', async () => {
  const shares = new CpuShares();
  await shares.run('busy', async (timed) => timed(() => compute(1_100)));
  await expect(shares.run('busy', async () => undefined)).rejects.toMatchObject({
    kind: 'rate_limited',
    retryAfterSeconds: expect.any(Number),
  });
});

test('work that fails does not keep its place', async () => {
  const shares = new CpuShares();
  const failing = Array.from({ length: 5 }, () =>
    shares.run('k', () => Promise.reject(new Error('failed'))).catch(() => 'failed'),
  );
  expect(await Promise.all(failing)).toEqual(Array(5).fill('failed'));
  expect(await shares.run('k', async () => 'done')).toBe('done');
});

test('a decision that may take many comparisons uses time of its key, and an ordinary one does not', async () => {
  const shares = new CpuShares();
  const decide = (key: string, maxSteps: number) => shares.decide(key, { maxSteps }, () => compute(800));
  await decide('ordinary', 5_000);
  await decide('large', 5_001);
  await expect(shares.run('large', async () => 'done')).rejects.toMatchObject({ kind: 'rate_limited' });
  await expect(decide('large', 5_001)).rejects.toMatchObject({ kind: 'rate_limited' });
  expect(await shares.run('ordinary', async () => 'done')).toBe('done');
});
