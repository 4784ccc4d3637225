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

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('the lines of a turn are written together, and those that arrive while the device is busy after it', async () => {
  const { written, device, finish } = controlled();
  const write = lineWriter(device);
  const first = [write('a\n'), write('b\n')];
  expect(written).toEqual([]);
  await turn();
  expect(written).toEqual(['a\nb\n']);
  const later = [write('c\n'), write('d\n')];
  await turn();
  expect(written).toEqual(['a\nb\n']);
  finish();
  await Promise.all(first);
  await turn();
  expect(written).toEqual(['a\nb\n', 'c\nd\n']);
  finish();
  await Promise.all(later);
});

test('a failed write rejects its lines only', async () => {
  const { written, device, finish, fail } = controlled();
  const write = lineWriter(device);
  const first = expect(write('a\n')).rejects.toThrow('full');
  await turn();
  const later = write('b\n');
  fail();
  await first;
  finish();
  await later;
  expect(written).toEqual(['a\n', 'b\n']);
});

test('a write has only as many bytes as the device takes at once; a longer line is alone', async () => {
  const { written, device, finish } = controlled(6);
  const write = lineWriter(device);
  const all = Promise.all(['ää\n', 'b\n', 'long line\n', 'c\n'].map(write));
  for (let round = 0; round < 4; round++) {
    await turn();
    finish();
  }
  await all;
  expect(written).toEqual(['ää\n', 'b\n', 'long line\n', 'c\n']);
});

test('refuses lines beyond the limit of what may wait, until the device has caught up', async () => {
  const { device, finish } = controlled();
  const write = lineWriter(device, 10);
  const waiting = write('12345678\n');
  await expect(write('ab\n')).rejects.toThrow('too slow');
  await turn();
  finish();
  await waiting;
  const next = write('ab\n');
  await turn();
  finish();
  await next;
});
