import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { createLogger } from './logger.ts';
import { logFailure, logOutage, quietMs } from './outages.ts';

let lines: Record<string, unknown>[];
const createLog = () =>
  createLogger({ service: 'test', destination: { write: (line) => void lines.push(JSON.parse(line)) } });
let log = createLog();

beforeEach(() => {
  jest.useFakeTimers();
  lines = [];
  log = createLog();
});
afterEach(() => {
  jest.useRealTimers();
});

const away = (cause?: unknown) =>
  Object.assign(new Error('the database is unavailable', { cause }), { kind: 'unavailable' });

test('an outage is one warning at its begin, and one line at its end with its length', async () => {
  for (let failures = 0; failures < 10; failures++) {
    logFailure(log, { error: away(new Error('ECONNREFUSED')), task: 'sweep' }, 'the sweep failed');
    await jest.advanceTimersByTimeAsync(quietMs / 2);
  }
  expect(lines).toMatchObject([
    {
      level: 'warn',
      msg: 'a dependency is unavailable',
      sentence: 'the database is unavailable',
      error: { message: 'ECONNREFUSED' },
      task: 'sweep',
      failed: 'the sweep failed',
    },
  ]);
  await jest.advanceTimersByTimeAsync(quietMs);
  expect(lines.slice(1)).toMatchObject([
    { level: 'info', sentence: 'the database is unavailable', failures: 10, seconds: 270 },
  ]);
  logFailure(log, { error: away() }, 'the sweep failed');
  expect(lines).toHaveLength(3);
});

test('each dependency, and each service of a process, has its own outage', () => {
  for (const one of [log, createLog()])
    for (const sentence of ['the database is unavailable', 'login is unavailable', 'login is unavailable'])
      logOutage(one, sentence, {});
  expect(lines.map(({ level }) => level)).toEqual(['warn', 'warn', 'warn', 'warn']);
});

test('a failure that is no outage is logged each time, at the level of its caller', () => {
  for (const level of ['warn', 'error'] as const)
    for (const error of [new Error('odd'), away()]) logFailure(log, { error }, 'the sweep failed', level);
  expect(lines).toMatchObject([
    { level: 'warn', msg: 'the sweep failed', error: { message: 'odd' } },
    { level: 'warn', msg: 'a dependency is unavailable' },
    { level: 'error', msg: 'the sweep failed' },
  ]);
});

test('the number of outages that are logged at the same time is limited', () => {
  for (let n = 0; n < 1_000; n++) logOutage(log, `${n} is unavailable`, {});
  expect(lines).toHaveLength(100);
});
