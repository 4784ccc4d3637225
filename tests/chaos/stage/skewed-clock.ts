// Preloaded into each service (`--import`): shifts its calendar clock by the milliseconds in the file CLOCK_FILE.
import { readFileSync } from 'node:fs';
import { shiftClock } from '../../../libs/testing/src/shift-clock.ts';

const file = process.env.CLOCK_FILE;
const pollMs = 100;
let offsetMs = 0;

function readOffset(): void {
  try {
    offsetMs = Number(readFileSync(file!, 'utf8')) || 0;
  } catch {
    offsetMs = 0;
  }
}

if (file !== undefined) {
  readOffset();
  setInterval(readOffset, pollMs).unref();
  shiftClock(() => offsetMs);
}
