export { advanceClock } from './clock-row.ts';
export { watchClock } from './clock-watch.ts';
export { type DeadlineTable, due, happened, lease } from './deadlines.ts';
export { sweepDeadlines } from './sweep-deadlines.ts';
