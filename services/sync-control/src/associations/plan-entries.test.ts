import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { planEntries } from './plan-entries.ts';

const wanted = (subKey: string, externalName: string) => ({
  subKey,
  externalName,
  collisionKey: externalName,
});
const there = (id: string, subKey: string, externalName: string) => ({ id, subKey, externalName });

describe('planEntries', () => {
  test('a new association creates', () => {
    expect(planEntries([], [wanted('', 'a')])).toEqual({ create: [wanted('', 'a')], keep: [], drop: [] });
  });

  test('what is the same stays', () => {
    expect(planEntries([there('1', '', 'a')], [wanted('', 'a')])).toEqual({
      create: [],
      keep: ['1'],
      drop: [],
    });
  });

  test('a changed template creates the new name first and drops the old after it', () => {
    const plan = planEntries([there('1', 'k', 'old')], [wanted('k', 'new')]);
    expect(plan).toEqual({ create: [wanted('k', 'new')], keep: [], drop: [{ id: '1', replacedBy: 'k' }] });
  });

  test('planned again while the new name is not there yet: the old one still goes after it', () => {
    const plan = planEntries(
      [there('1', 'k', 'old'), there('2', 'k', 'new'), there('3', '', 'whole')],
      [wanted('k', 'new')],
    );
    expect(plan).toEqual({
      create: [],
      keep: ['2'],
      drop: [
        { id: '1', replacedBy: 'k' },
        { id: '3', replacedBy: 'k' },
      ],
    });
  });

  test('a key that is gone is dropped at once', () => {
    const plan = planEntries([there('1', 'a', 'A'), there('2', 'b', 'B')], [wanted('a', 'A')]);
    expect(plan).toEqual({ create: [], keep: ['1'], drop: [{ id: '2', replacedBy: null }] });
  });

  test('a changed granularity drops the whole after one of the keys is there', () => {
    const plan = planEntries([there('1', '', 'whole')], [wanted('a', 'A'), wanted('b', 'B')]);
    expect(plan.drop).toEqual([{ id: '1', replacedBy: 'a' }]);
  });

  test('every existing entry stays or goes, every wanted one stays or comes, none both', () => {
    const names = fc.uniqueArray(
      fc.tuple(fc.constantFrom('', 'a', 'b', 'c'), fc.constantFrom('x', 'y', 'z')),
      {
        selector: ([key, name]) => `${key}/${name}`,
      },
    );
    fc.assert(
      fc.property(names, names, (before, after) => {
        const existing = before.map(([key, name], index) => there(String(index), key, name));
        const plan = planEntries(
          existing,
          after.map(([key, name]) => wanted(key, name)),
        );
        expect(plan.keep.length + plan.drop.length).toBe(before.length);
        expect(plan.keep.length + plan.create.length).toBe(after.length);
      }),
    );
  });
});
