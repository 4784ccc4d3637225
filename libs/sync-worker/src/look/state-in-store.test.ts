import { expect, test } from '@jest/globals';
import type { FoundSecret, Look } from '../driver/look.ts';
import { stateInStore } from './state-in-store.ts';

const found = (more: Partial<FoundSecret> = {}): Look => ({
  exists: true,
  belongs: 'own',
  mark: '1',
  isUntouched: false,
  value: 'same',
  changedAt: null,
  ...more,
});
const settled = { isSettled: true, pushedHash: 'k1:a' };
const untouched = found({ isUntouched: true, value: 'unread' });

test.each([
  ['absent', { exists: false } as Look],
  ['equal', found()],
  ['different', found({ value: 'different' })],
  ['unknown', found({ value: 'unread' })],
  ['foreign', found({ belongs: 'none' })],
  ['foreign', found({ belongs: 'provider', value: 'unread' })],
  ['another_destination', found({ belongs: 'other' })],
])('what has no entry is %s: %j', (state, look) => {
  expect(stateInStore(look, { hash: 'k1:a', entry: undefined }).state).toBe(state);
});

test.each([
  ['equal', 'k1:a'],
  ['different', 'k1:b'],
  ['unknown', 'k2:a'],
])('what was not touched since the push has the value that was pushed: %s with %s', (state, hash) => {
  expect(stateInStore(untouched, { hash, entry: settled }).state).toBe(state);
});

test('right after a push, only the mark that it left proves something', () => {
  const entry = { ...settled, isSettled: false };
  const states = [untouched, found(), { exists: false } as Look].map(
    (look) => stateInStore(look, { hash: 'k1:a', entry }).state,
  );
  expect(states).toEqual(['equal', 'unknown', 'unknown']);
});
