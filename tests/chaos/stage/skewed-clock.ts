// Preloaded into each service (`--import`): shifts its calendar clock by the milliseconds in the file CLOCK_FILE. Timers and
// `performance.now` are not affected, as with a clock that an operator or NTP sets.
import { readFileSync } from 'node:fs';

const file = process.env.CLOCK_FILE;
const pollMs = 100;
const RealDate = Date;
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
  const now = () => RealDate.now() + offsetMs;
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget) as object,
    get: (target, key, receiver) => (key === 'now' ? now : Reflect.get(target, key, receiver)),
  });
}
