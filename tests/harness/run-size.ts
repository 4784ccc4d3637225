import { test } from '@jest/globals';

/** Whether this is a run with `npm test -- --long`, as before a release. */
export const isLongRun = process.env.LONG === '1';

/** A test that only long runs execute. `npm test` says at its end that there are such tests. */
export const longTest = isLongRun ? test : test.skip;

/** The size of a random test: the number in the environment variable `name`; by default `usual`, or `long` for a long run. */
export const runSize = (name: string, usual: number, long: number): number =>
  Number(process.env[name] ?? (isLongRun ? long : usual));
