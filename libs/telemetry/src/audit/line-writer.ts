import { setImmediate } from 'node:timers/promises';
import type { DeviceFile } from './audit-device.ts';

/** Lines that are written together. */
interface Batch {
  text: string;
  bytes: number;
  done: PromiseWithResolvers<void>;
}

/** Lines wait in memory while the device is slow. Each request has at most one, so this is more than enough for all of them. */
const maxWaitingBytes = 33_554_432;

/** A line waits for at most this many turns. */
const maxTurns = 8;

/**
 * Returns a function that writes one line to a device and resolves when it is written. One write is in progress at a time: the
 * lines of a few turns of the event loop, and those that arrive while the device is busy, are written together. A failed write
 * rejects its lines; the next ones are tried again.
 */
export function lineWriter(
  device: Pick<DeviceFile, 'append' | 'maxBytes'>,
  maxWaiting = maxWaitingBytes,
): (line: string) => Promise<void> {
  const waiting: Batch[] = [];
  let waitingBytes = 0;
  let lines = 0; // ever
  let isBusy = false;

  const write = async (batch: Batch) => {
    const settle = await device.append(batch.text).then(
      () => batch.done.resolve,
      (error: unknown) => () => batch.done.reject(error),
    );
    waitingBytes -= batch.bytes;
    settle();
  };

  /** Waits for a turn of the event loop without another line: few large writes cost less than many small ones. */
  const quietTurn = async () => {
    let before = -1;
    for (let turns = 0; turns < maxTurns && lines !== before; turns += 1) {
      before = lines;
      await setImmediate();
    }
  };

  const writeAll = async () => {
    for (;;) {
      await quietTurn();
      const batch = waiting.shift();
      if (batch === undefined) break;
      await write(batch);
    }
    isBusy = false; // in the same turn as the last look, so that no line is left
  };

  return (line) => {
    const bytes = Buffer.byteLength(line);
    if (waitingBytes + bytes > maxWaiting) return Promise.reject(new Error('the audit log is too slow'));
    waitingBytes += bytes;
    lines += 1;
    if (!isBusy) {
      isBusy = true;
      void writeAll();
    }
    return added(waiting, line, bytes, device.maxBytes).done.promise;
  };
}

/** Adds a line to the last batch, or to a new one if it does not fit. */
function added(waiting: Batch[], line: string, bytes: number, maxBytes: number): Batch {
  const last = waiting.at(-1);
  if (last !== undefined && last.bytes + bytes <= maxBytes) {
    last.text += line;
    last.bytes += bytes;
    return last;
  }
  const batch = { text: line, bytes, done: Promise.withResolvers<void>() };
  waiting.push(batch);
  return batch;
}
