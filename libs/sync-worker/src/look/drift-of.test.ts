import { describe, expect, test } from '@jest/globals';
import type { FoundSecret } from '../driver/look.ts';
import { driftOf } from './drift-of.ts';

const found: FoundSecret = {
  exists: true,
  belongs: 'own',
  mark: '7',
  isUntouched: false,
  value: 'unread',
  changedAt: null,
};

test.each([
  ['its mark is that of the last put', { isUntouched: true }, { drift: 'none', evidence: 'mark' }],
  ['its value is the one that was pushed', { value: 'same' }, { drift: 'none', evidence: 'value' }],
  ['its value is another one', { value: 'different' }, { drift: 'changed', evidence: 'value' }],
  ['its mark has changed and its value cannot be read', {}, { drift: 'changed', evidence: 'mark' }],
  ['it has no owner', { belongs: 'none' }, { drift: 'foreign', evidence: 'mark' }],
  [
    'another destination has marked it',
    { belongs: 'other', isUntouched: true },
    { drift: 'foreign', evidence: 'mark' },
  ],
  ['the provider manages it', { belongs: 'provider' }, { drift: 'foreign', evidence: 'mark' }],
] as const)('an external secret is judged by what a look shows: %s', (_, shown, expected) => {
  expect(driftOf({ ...found, ...shown }, true)).toEqual(expected);
});

test('an external secret that does not exist is missing', () => {
  expect(driftOf({ exists: false }, true)).toEqual({ drift: 'missing', evidence: null });
});

describe('soon after a put', () => {
  test.each([
    ['absent', { exists: false } as const],
    ['of another value', { ...found, value: 'different' as const }],
    ['of the pushed value with another mark', { ...found, value: 'same' as const }],
    ['foreign', { ...found, belongs: 'none' as const }],
  ])('a look proves nothing if the secret is %s', (_, look) => {
    expect(driftOf(look, false)).toBeUndefined();
  });

  test('a look proves that the put arrived if it shows its mark', () => {
    expect(driftOf({ ...found, isUntouched: true }, false)).toEqual({ drift: 'none', evidence: 'mark' });
  });
});
