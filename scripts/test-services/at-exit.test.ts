import { expect, test } from '@jest/globals';
import { atExit } from './at-exit.ts';

const listeners = () => process.listenerCount('exit');

test('any number of works needs one listener, and none once they are forgotten', () => {
  const before = listeners();
  const forgets = Array.from({ length: 20 }, () => atExit(() => undefined));
  expect(listeners()).toBe(before + 1);
  for (const forget of forgets) forget();
  expect(listeners()).toBe(before);
});

test('a work that was forgotten does not run at exit', () => {
  const ran: string[] = [];
  const forgetKept = atExit(() => ran.push('kept'));
  atExit(() => ran.push('forgotten'))();
  const listener = process.listeners('exit').at(-1) as (code: number) => void;
  listener(0);
  forgetKept();
  expect(ran).toEqual(['kept']);
});
