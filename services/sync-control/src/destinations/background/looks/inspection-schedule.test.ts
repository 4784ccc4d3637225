import { expect, test } from '@jest/globals';
import type { Inspection } from '@secrets/sync-entries';
import { visitOf } from './inspection-schedule.ts';

const hourMs = 3_600_000;
const nowMs = 1_000 * hourMs;

const inspection: Inspection = {
  destinationId: 'd',
  settings: {},
  isDeleted: false,
  isBlocked: false,
  requestedAtMs: null,
  roundStartedAtMs: nowMs - 12 * hourMs,
  isInRound: false,
  position: '',
  seen: 0,
  lastSeen: 0,
  nowMs,
};

const page = { kind: 'page', sinceSeconds: 8_640, isRequested: false };
const requested = { requestedAtMs: nowMs - 10_000 };
const requestedPage = { kind: 'page', sinceSeconds: 10, isRequested: true };

test.each<[string, Partial<Inspection>, object]>([
  ['a round begins a day after the last one', {}, { kind: 'later', ms: 12 * hourMs }],
  ['a round that is late begins at once', { roundStartedAtMs: nowMs - 25 * hourMs }, page],
  [
    'another period applies at once',
    { settings: { inspection_period: 46_800 } },
    { kind: 'later', ms: hourMs },
  ],
  [
    'a page is looked at when its share of the period has passed',
    { isInRound: true, seen: 750, lastSeen: 1_000 },
    { kind: 'later', ms: 6 * hourMs },
  ],
  [
    'a page that is late is looked at at once, without what was seen since its turn',
    { isInRound: true, seen: 250, lastSeen: 1_000 },
    { ...page, sinceSeconds: 8_640 + 6 * 3_600 },
  ],
  [
    'entries beyond those of the last round are looked at at once',
    { isInRound: true, seen: 9, lastSeen: 8 },
    { ...page, sinceSeconds: 8_640 + 12 * 3_600 },
  ],
  [
    'a round that was never measured does not wait',
    { isInRound: true, seen: 200, lastSeen: 0 },
    { ...page, sinceSeconds: 8_640 + 12 * 3_600 },
  ],
  ['nothing is looked at with the policy off', { settings: { drift_policy: 'off' } }, { kind: 'never' }],
  ['nothing is looked at in a deleted destination', { isDeleted: true }, { kind: 'never' }],
  ['a paused destination is looked at later', { isBlocked: true }, { kind: 'later', ms: 60_000 }],
  [
    'a requested round does not wait, and leaves out what was seen since the request',
    requested,
    requestedPage,
  ],
  [
    'the pages of a requested round are not spread',
    { ...requested, isInRound: true, seen: 750, lastSeen: 1_000 },
    requestedPage,
  ],
  [
    'a requested round takes place with the policy off',
    { ...requested, settings: { drift_policy: 'off' } },
    requestedPage,
  ],
  [
    'a requested round waits for a paused destination',
    { ...requested, isBlocked: true },
    { kind: 'later', ms: 5_000 },
  ],
])('%s', (_, changed, expected) => {
  expect(visitOf('cloudA-sm', { ...inspection, ...changed })).toEqual(expected);
});
