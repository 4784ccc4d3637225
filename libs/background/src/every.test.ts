import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { createLogger, silentLogger } from '@secrets/telemetry';
import { every } from './every.ts';

/** Counts runs; `reached` resolves at the last one. */
const countdown = (count: number) => {
  const { promise: reached, resolve } = Promise.withResolvers<void>();
  let left = count;
  return { reached, next: () => --left === 0 && resolve() };
};

test('repeats one run at a time, and stops after the current run', async () => {
  const { reached, next } = countdown(3);
  let running = 0;
  let maxRunning = 0;
  const repeated = every(0.001, 'test', silentLogger(), async () => {
    maxRunning = Math.max(maxRunning, ++running);
    await sleep(5);
    running -= 1;
    next();
  });
  await reached;
  await repeated.stop();
  expect({ running, maxRunning }).toEqual({ running: 0, maxRunning: 1 });
});

test('logs a failed run and continues', async () => {
  const lines: string[] = [];
  const log = createLogger({ service: 'test', destination: { write: (line) => void lines.push(line) } });
  const { reached, next } = countdown(2);
  const repeated = every(0.001, 'test', log, async () => {
    next();
    throw new Error('down');
  });
  await reached;
  await repeated.stop();
  expect(lines[0]).toContain('background task failed');
});

test('stop does not wait for the next run', async () => {
  await every(3600, 'test', silentLogger(), async () => undefined).stop();
});
