import { expect, test } from '@jest/globals';
import { FairQueue } from './fair-queue.ts';

test('a work waits for one of each other key, however many of those wait', async () => {
  const turns = new FairQueue();
  const ended: string[] = [];
  let running = 0;
  const run = (key: string, name: string) =>
    turns.run(key, async () => {
      expect(++running).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      ended.push(name);
      running -= 1;
    });
  const all = ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2'].map((name) => run(name.charAt(0), name));
  await Promise.all(all);
  expect(ended).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
  await run('d', 'd1');
  expect(ended.at(-1)).toBe('d1');
});

test('too many works of one key are refused, those of others are not, and a failure starts the next one', async () => {
  const turns = new FairQueue();
  const outcomes = await Promise.allSettled([
    ...Array.from({ length: 10 }, () => turns.run('busy', () => Promise.reject(new Error('failed')))),
    turns.run('other', async () => 'done'),
  ]);
  expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(10);
  expect(outcomes[9]).toMatchObject({ reason: { kind: 'rate_limited' } });
  expect(outcomes[10]).toMatchObject({ value: 'done' });
});
