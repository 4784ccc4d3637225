import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { planEntries } from './plan-entries.ts';

const wanted = (subKey: string, externalName: string) => ({
  subKey,
  externalName,
  collisionKey: externalName,
});
const existing = (id: string, subKey: string, externalName: string) => ({ id, subKey, externalName });

describe('planEntries', () => {
  test('creates the entries of a new association', () => {
    expect(planEntries([], [wanted('', 'a')])).toEqual({ create: [wanted('', 'a')], keep: [], drop: [] });
  });

  test('keeps an entry whose key and name are the same', () => {
    expect(planEntries([existing('1', '', 'a')], [wanted('', 'a')])).toEqual({
      create: [],
      keep: ['1'],
      drop: [],
    });
  });

  test('replaces a changed name: the old entry is dropped after the new one', () => {
    const plan = planEntries([existing('1', 'k', 'old')], [wanted('k', 'new')]);
    expect(plan).toEqual({ create: [wanted('k', 'new')], keep: [], drop: [{ id: '1', replacedBy: 'k' }] });
  });

  test('drops the old name after the new one also if it is planned again in between', () => {
    const plan = planEntries(
      [existing('1', 'k', 'old'), existing('2', 'k', 'new'), existing('3', '', 'whole')],
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

  test('drops the entry of a removed key without waiting', () => {
    const plan = planEntries([existing('1', 'a', 'A'), existing('2', 'b', 'B')], [wanted('a', 'A')]);
    expect(plan).toEqual({ create: [], keep: ['1'], drop: [{ id: '2', replacedBy: null }] });
  });

  test('drops the entry of the whole secret after that of a key when the granularity changes', () => {
    const plan = planEntries([existing('1', '', 'whole')], [wanted('a', 'A'), wanted('b', 'B')]);
    expect(plan.drop).toEqual([{ id: '1', replacedBy: 'a' }]);
  });

  test('keeps or drops every existing entry, and keeps or creates every wanted one', () => {
    const names = fc.uniqueArray(
      fc.tuple(fc.constantFrom('', 'a', 'b', 'c'), fc.constantFrom('x', 'y', 'z')),
      {
        selector: ([key, name]) => `${key}/${name}`,
      },
    );
    fc.assert(
      fc.property(names, names, (before, after) => {
        const entries = before.map(([key, name], index) => existing(String(index), key, name));
        const plan = planEntries(
          entries,
          after.map(([key, name]) => wanted(key, name)),
        );
        expect(plan.keep.length + plan.drop.length).toBe(before.length);
        expect(plan.keep.length + plan.create.length).toBe(after.length);
      }),
    );
  });
});
