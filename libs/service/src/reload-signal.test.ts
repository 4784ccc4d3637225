import { expect, test } from '@jest/globals';
import { onReloadSignal } from './reload-signal.ts';

test('everything that is reloaded shares one listener, which stays when all of it has ended', () => {
  const before = process.listenerCount('SIGHUP');
  const called: number[] = [];
  const ends = Array.from({ length: 12 }, (_, index) => onReloadSignal(() => called.push(index)));
  process.emit('SIGHUP');
  expect(called).toHaveLength(12);
  expect(process.listenerCount('SIGHUP') - before).toBeLessThanOrEqual(1);
  for (const end of ends) end();
  process.emit('SIGHUP');
  expect(called).toHaveLength(12);
  expect(process.listenerCount('SIGHUP')).toBeGreaterThan(0);
});
