import { expect, test } from '@jest/globals';
import { History } from './history.ts';

const minute = 60_000;

/** A history of texts, with a clock that is set. */
function historyOfTexts() {
  const clock = { nowMs: 1_000_000_000 };
  const history = new History<{ text: string }>(
    ({ text }) => ({ text }),
    () => clock.nowMs,
  );
  const textsAt = (agoMs: number) => history.at(clock.nowMs - agoMs).map(({ text }) => text);
  return { clock, history, textsAt };
}

test('returns what existed at a time, whatever has become of it', () => {
  const { clock, history, textsAt } = historyOfTexts();
  const content = { text: 'one' };
  history.record('a', content);
  content.text = 'changed';
  clock.nowMs += minute;
  history.record('a', { text: 'two' });
  clock.nowMs += minute;
  history.record('a', undefined);
  clock.nowMs += minute;
  expect([0, 1, 2, 3, 4].map((minutes) => textsAt(minutes * minute))).toEqual([[], [], ['two'], ['one'], []]);
});

test('what was loaded has always existed', () => {
  const { history, textsAt } = historyOfTexts();
  history.load('a', { text: 'old' });
  expect(textsAt(10 * minute)).toEqual(['old']);
});

test('keeps the newest states of an object that changes often, and the state of ten minutes ago', () => {
  const { clock, history, textsAt } = historyOfTexts();
  for (let n = 1; n <= 1_000; n += 1) {
    clock.nowMs += 100;
    history.record('a', { text: String(n) });
  }
  expect([textsAt(0), textsAt(5_000), textsAt(50_000)]).toEqual([['1000'], ['950'], ['901']]);
  clock.nowMs += 10 * minute;
  history.record('a', undefined);
  expect([textsAt(10 * minute), textsAt(0)]).toEqual([['1000'], []]);
});
