import { setImmediate } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { lineWriter } from './line-writer.ts';

/** A device that writes when the test says so. */
function controlled(maxBytes = 1_000) {
  const written: string[] = [];
  let writing = Promise.withResolvers<void>();
  const append = (text: string) => {
    written.push(text);
    writing = Promise.withResolvers<void>();
    return writing.promise;
  };
  const device = { maxBytes, append };
  return { written, device, finish: () => writing.resolve(), fail: () => writing.reject(new Error('full')) };
}

/** Waits until the device was asked to write this many times, and a few turns longer. */
async function untilWritten(written: readonly string[], count: number): Promise<void> {
  for (let turns = 0; turns < 10 || written.length < count; turns++) await setImmediate();
}

test('the lines of a turn are written together, and those that arrive while the device is busy after it', async () => {
  const { written, device, finish } = controlled();
  const write = lineWriter(device);
  const first = [write('a\n'), write('b\n')];
  expect(written).toEqual([]);
  await untilWritten(written, 1);
  const later = [write('c\n'), write('d\n')];
  await untilWritten(written, 1);
  expect(written).toEqual(['a\nb\n']);
  finish();
  await Promise.all(first);
  await untilWritten(written, 2);
  expect(written).toEqual(['a\nb\n', 'c\nd\n']);
  finish();
  await Promise.all(later);
});

test('a write waits for the lines of the following turns, but not for long', async () => {
  const { written, device, finish } = controlled();
  const write = lineWriter(device);
  const writes: Promise<void>[] = [];
  const oneEachTurn = async () => {
    while (written.length === 0) {
      await setImmediate();
      writes.push(write('line\n'));
    }
  };
  const adding = oneEachTurn();
  writes.push(write('first\n'));
  await adding;
  expect(writes.length).toBeGreaterThan(2);
  expect(writes.length).toBeLessThan(20);
  finish();
  await writes[0];
  await untilWritten(written, 2);
  finish();
  await Promise.all(writes);
});

test('a line that arrives just when the last one was written is not forgotten', async () => {
  const written: string[] = [];
  const write = lineWriter({ maxBytes: 1_000, append: async (text) => void written.push(text) });
  for (let line = 0; line < 100; line++) {
    await write(`${line}\n`);
    for (let ticks = 0; ticks < line % 10; ticks++) await Promise.resolve();
  }
  expect(written).toHaveLength(100);
});

test('a failed write rejects its lines only', async () => {
  const { written, device, finish, fail } = controlled();
  const write = lineWriter(device);
  const first = expect(write('a\n')).rejects.toThrow('full');
  await untilWritten(written, 1);
  const later = write('b\n');
  fail();
  await first;
  await untilWritten(written, 2);
  finish();
  await later;
  expect(written).toEqual(['a\n', 'b\n']);
});

test('a write has only as many bytes as the device takes at once; a longer line is alone', async () => {
  const { written, device, finish } = controlled(6);
  const write = lineWriter(device);
  const lines = ['ää\n', 'b\n', 'long line\n', 'c\n'];
  const all = Promise.all(lines.map(write));
  for (let count = 1; count <= lines.length; count++) {
    await untilWritten(written, count);
    finish();
  }
  await all;
  expect(written).toEqual(lines);
});

test('refuses lines beyond the limit of what may wait, until the device has caught up', async () => {
  const { written, device, finish } = controlled();
  const write = lineWriter(device, 10);
  const waiting = write('12345678\n');
  await expect(write('ab\n')).rejects.toThrow('too slow');
  await untilWritten(written, 1);
  finish();
  await waiting;
  const next = write('ab\n');
  await untilWritten(written, 2);
  finish();
  await next;
});
