import { expect, test } from '@jest/globals';
import { FaultInjector } from './fault-injector.ts';

const overrideOf = (faults: FaultInjector, operation: string, name?: string) =>
  faults.apply(operation, name).override?.effect;

test('a fault applies only to matching operations and names', () => {
  const faults = new FaultInjector();
  faults.add({ effect: 'throttle', operation: ['Put', 'Update'], name: 'app/*/key' });
  expect(overrideOf(faults, 'Get', 'app/x/key')).toBeUndefined();
  expect(overrideOf(faults, 'Put', 'app/x/other')).toBeUndefined();
  expect(overrideOf(faults, 'Put')).toBeUndefined();
  expect(overrideOf(faults, 'Put', 'app/x/key')).toBe('throttle');
});

test('a fault with a count expires after that many calls', () => {
  const faults = new FaultInjector();
  faults.add({ effect: 'reset', times: 2 });
  expect(['a', 'b', 'c'].map((operation) => overrideOf(faults, operation))).toEqual([
    'reset',
    'reset',
    undefined,
  ]);
  expect(faults.list()).toEqual([]);
});

test('a fault with `every` affects each nth matching call', () => {
  const faults = new FaultInjector();
  faults.add({ effect: 'throttle', operation: 'put', every: 3 });
  const effects = ['put', 'get', 'put', 'put', 'put', 'put', 'put'].map((operation) =>
    overrideOf(faults, operation),
  );
  expect(effects.map((effect) => effect !== undefined)).toEqual([
    false,
    false,
    false,
    true,
    false,
    false,
    true,
  ]);
});

test('a removed fault no longer applies', () => {
  const faults = new FaultInjector();
  const id = faults.add({ effect: 'throttle' });
  expect(faults.remove(id)).toBe(true);
  expect(overrideOf(faults, 'a')).toBeUndefined();
  expect(faults.remove(id)).toBe(false);
});

test('the first matching fault overrides the response, and delays add up', () => {
  const faults = new FaultInjector();
  faults.add({ effect: 'slow', ms: 10 });
  faults.add({ effect: 'server-error', times: 1 });
  faults.add({ effect: 'throttle', times: 1 });
  faults.add({ effect: 'slow', ms: 5 });
  expect(faults.apply('x', undefined)).toMatchObject({ delayMs: 15, override: { effect: 'server-error' } });
  expect(faults.apply('x', undefined)).toMatchObject({ delayMs: 15, override: { effect: 'throttle' } });
});

test('a rate limit permits its burst, then its rate', () => {
  let nowMs = 0;
  const faults = new FaultInjector(() => nowMs);
  faults.add({ effect: 'rate-limit', perSecond: 2, burst: 3 });
  const outcomes = () => Array.from({ length: 4 }, () => overrideOf(faults, 'x'));
  expect(outcomes()).toEqual([undefined, undefined, undefined, 'rate-limit']);
  nowMs = 1_000;
  expect(outcomes()).toEqual([undefined, undefined, 'rate-limit', 'rate-limit']);
});
