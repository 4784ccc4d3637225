import { expect, test } from '@jest/globals';
import { createLogger, silentLogger } from '@secrets/telemetry';
import { every } from './every.ts';

const turns = (count: number) => {
  let left = count;
  let resolve = () => {};
  const reached = new Promise<void>((done) => {
    resolve = done;
  });
  return { reached, next: () => --left === 0 && resolve() };
};

test('works again and again, one turn at a time, and stops after the turn under way', async () => {
  const { reached, next } = turns(3);
  let running = 0;
  let maxRunning = 0;
  const repeated = every(0.001, 'test', silentLogger(), async () => {
    maxRunning = Math.max(maxRunning, ++running);
    await new Promise((resolve) => setTimeout(resolve, 5));
    running -= 1;
    next();
  });
  await reached;
  await repeated.stop();
  expect({ running, maxRunning }).toEqual({ running: 0, maxRunning: 1 });
});

test('a turn that fails is logged, and the next one comes', async () => {
  const lines: string[] = [];
  const log = createLogger({ service: 'test', destination: { write: (line) => void lines.push(line) } });
  const { reached, next } = turns(2);
  const repeated = every(0.001, 'test', log, async () => {
    next();
    throw new Error('down');
  });
  await reached;
  await repeated.stop();
  expect(lines[0]).toContain('a background task failed');
});

test('stopping does not wait for the next turn', async () => {
  await every(3600, 'test', silentLogger(), async () => undefined).stop();
});
