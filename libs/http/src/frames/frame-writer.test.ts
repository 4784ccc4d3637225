import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { FrameWriter } from './frame-writer.ts';

/** A writer, and the sizes of what it has written, in frames of one byte. */
function writerForTest() {
  const written: number[] = [];
  const socket = new PassThrough();
  socket.on('data', (chunk: Buffer) => written.push(chunk.length));
  const writer = new FrameWriter(socket);
  return { written, writer, write: (frames: number) => repeat(frames, () => writer.write(Buffer.alloc(1))) };
}

const repeat = (times: number, action: () => void) => Array.from({ length: times }).forEach(action);
const total = (written: readonly number[]) => written.reduce((sum, frames) => sum + frames, 0);

test('frames of one turn of the event loop are written together', async () => {
  const { write, written } = writerForTest();
  write(5);
  for (let turns = 0; turns < 5; turns += 1) await turn();
  expect(written).toEqual([5]);
});

test('many frames are written in groups, so that the other end can begin with the first ones', async () => {
  const { write, written } = writerForTest();
  write(20);
  for (let turns = 0; turns < 5; turns += 1) await turn();
  expect(written).toEqual([8, 8, 4]);
});

test('a frame does not wait for more than four turns, however many others follow', async () => {
  const { write, written } = writerForTest();
  for (let turns = 0; turns < 5; turns += 1) {
    write(1);
    await turn();
  }
  expect(total(written)).toBeGreaterThan(0);
});

test('what is left is written before the end', async () => {
  const { writer, write, written } = writerForTest();
  write(11);
  writer.end();
  await turn();
  expect(total(written)).toBe(11);
});
