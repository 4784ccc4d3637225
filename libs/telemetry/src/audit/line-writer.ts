import { setImmediate as endOfTurn, setTimeout as sleep } from 'node:timers/promises';
import type { DeviceFile } from './audit-device.ts';

/** Lines that are written together. */
interface Batch {
  text: string;
  bytes: number;
  lines: number;
  done: PromiseWithResolvers<void>;
}

/** Lines wait in memory while the device is slow. Each request has at most one, so this is more than enough for all of them. */
const maxWaitingBytes = 33_554_432;

/** Under load, writes begin at least this far apart: each costs a switch between threads, whatever its size. */
const gapMs = 4;
/** A write of so few lines is not load, and the next line does not wait. */
const fewLines = 3;

/**
 * Returns a function that writes one line to a device and resolves when it is written. One write is in progress at a time: the lines
 * of a turn of the event loop, those that arrive while the device is busy, and under load those of a few milliseconds, are written
 * together. A failed write rejects its lines; the next ones are tried again.
 */
export function lineWriter(
  device: Pick<DeviceFile, 'append' | 'maxBytes'>,
  maxWaiting = maxWaitingBytes,
): (line: string) => Promise<void> {
  const waiting: Batch[] = [];
  let waitingBytes = 0;
  let isBusy = false;
  let earliest = 0; // of the next write, in terms of performance.now()

  const write = async (batch: Batch) => {
    if (batch.lines > fewLines) earliest = performance.now() + gapMs;
    const settle = await device.append(batch.text).then(
      () => batch.done.resolve,
      (error: unknown) => () => batch.done.reject(error),
    );
    waitingBytes -= batch.bytes;
    settle();
  };

  const untilDue = () => {
    const waitMs = earliest - performance.now();
    return waitMs > 1 ? sleep(waitMs) : endOfTurn();
  };

  const writeAll = async () => {
    for (;;) {
      await untilDue();
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
    last.lines += 1;
    return last;
  }
  const batch = { text: line, bytes, lines: 1, done: Promise.withResolvers<void>() };
  waiting.push(batch);
  return batch;
}
