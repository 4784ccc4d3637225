import { expect, test } from '@jest/globals';
import type { FoundSecret } from '../driver/look.ts';
import { outcomeOfLook } from './outcome-of-look.ts';

const found: FoundSecret = {
  exists: true,
  belongs: 'own',
  mark: '7',
  isUntouched: false,
  value: 'different',
  changedAt: new Date('2026-11-25T10:02:59.999Z'),
};
const changed = { drift: 'changed', evidence: 'value' } as const;
const before = { status: 'SYNCED', drift: 'none', lastError: null } as const;
const looked = { look: found, conclusion: changed, before, hasSettings: true } as const;

test.each([
  ['report', 'SYNCED', 'CLIENT_SIDE_ERROR'],
  ['report', 'CLIENT_SIDE_ERROR', 'CLIENT_SIDE_ERROR'],
  ['repair', 'SYNCED', 'CLIENT_SIDE_ERROR'],
  ['off', 'SYNCED', 'SYNCED'],
  ['off', 'CLIENT_SIDE_ERROR', 'CLIENT_SIDE_ERROR'],
] as const)('under %s, an entry that is %s and has drifted becomes %s', (policy, status, after) => {
  const outcome = outcomeOfLook(policy, { ...looked, before: { ...before, status } });
  expect(outcome).toMatchObject({ ...changed, status: after });
  expect(outcome.error === null).toBe(after === 'SYNCED');
});

test.each([
  ['SYNCED', false, 'SYNCED'],
  ['CLIENT_SIDE_ERROR', true, 'SYNCED'],
  ['CLIENT_SIDE_ERROR', false, 'PENDING'],
] as const)(
  'an entry that is %s, with its present settings %s, becomes %s when a look finds no drift',
  (status, hasSettings, after) => {
    const conclusion = { drift: 'none', evidence: 'mark' } as const;
    for (const policy of ['report', 'off'] as const)
      expect(
        outcomeOfLook(policy, { ...looked, conclusion, before: { ...before, status }, hasSettings }),
      ).toEqual({ ...conclusion, status: after, error: null });
  },
);

test.each([
  ['when', {}, 'the external secret was changed by somebody else on 2026-11-25 10:02 UTC'],
  [
    'the versions where they have numbers',
    { pushedMark: '6' },
    'the external secret was changed by somebody else on 2026-11-25 10:02 UTC (version 7 instead of 6)',
  ],
  [
    'no version that cannot be shown',
    { pushedMark: '6', mark: 'x\ny' },
    'the external secret was changed by somebody else on 2026-11-25 10:02 UTC',
  ],
  [
    'no version if the secret was created again with the same one',
    { pushedMark: '7', changedAt: null },
    'the external secret was changed by somebody else',
  ],
  [
    'that it can be taken over',
    { belongs: 'none' },
    'the external secret is one that somebody else created; set "overwrite" to take it over',
  ],
  [
    'that it is of another destination',
    { belongs: 'other' },
    'another destination has marked the external secret as its own',
  ],
  ['that the provider manages it', { belongs: 'provider' }, 'the provider manages the external secret'],
] as const)('the error of an external secret that has drifted says %s', (_, shown, error) => {
  expect(outcomeOfLook('report', { ...looked, look: { ...found, ...shown } }).error).toBe(error);
});

test('the error of an external secret that is missing says that it was deleted', () => {
  expect(outcomeOfLook('report', { ...looked, look: { exists: false } }).error).toBe(
    'the external secret was deleted by somebody else',
  );
});

test.each(['changed', 'missing', 'foreign', 'none'] as const)(
  'an entry that is contested remains so, unless a look finds that it is foreign or unchanged: %s',
  (drift) => {
    const status = 'CLIENT_SIDE_ERROR';
    const contested = { status, drift: 'contested', lastError: 'undone twice' } as const;
    const conclusion = { drift, evidence: null } as const;
    const outcome = outcomeOfLook('repair', { ...looked, conclusion, before: contested });
    if (drift === 'changed' || drift === 'missing')
      expect(outcome).toEqual({ drift: 'contested', evidence: null, status, error: 'undone twice' });
    else expect(outcome.drift).toBe(drift);
  },
);
