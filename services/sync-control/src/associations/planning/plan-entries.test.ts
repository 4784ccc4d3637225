import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { keepFormerNames } from './keep-former-names.ts';
import { planEntries } from './plan-entries.ts';

const wanted = (subKey: string, externalName: string) => ({
  subKey,
  externalName,
  collisionKey: externalName,
});
const existing = (id: string, subKey: string, externalName: string) => ({
  ...wanted(subKey, externalName),
  id,
  desired: 'present' as const,
  waitsFor: null,
});

describe('planEntries', () => {
  test('creates the entries of a new association', () => {
    expect(planEntries([], [wanted('', 'a')])).toEqual({
      create: [wanted('', 'a')],
      keep: [],
      handOver: [],
      drop: [],
    });
  });

  test('keeps an entry whose key and name are the same', () => {
    expect(planEntries([existing('1', '', 'a')], [wanted('', 'a')])).toEqual({
      create: [],
      keep: ['1'],
      handOver: [],
      drop: [],
    });
  });

  test('replaces a changed name: the old entry is dropped after the new one', () => {
    const plan = planEntries([existing('1', 'k', 'old')], [wanted('k', 'new')]);
    expect(plan).toEqual({
      create: [wanted('k', 'new')],
      keep: [],
      handOver: [],
      drop: [{ id: '1', replacedBy: 'k', after: 'k' }],
    });
  });

  test('drops the old name after the new one also if it is planned again in between', () => {
    const plan = planEntries(
      [existing('1', 'k', 'old'), existing('2', 'k', 'new'), existing('3', '', 'whole')],
      [wanted('k', 'new')],
    );
    expect(plan).toEqual({
      create: [],
      keep: ['2'],
      handOver: [],
      drop: [
        { id: '1', replacedBy: 'k', after: 'k' },
        { id: '3', replacedBy: 'k', after: 'k' },
      ],
    });
  });

  test('drops the entry of a removed key without waiting', () => {
    const plan = planEntries([existing('1', 'a', 'A'), existing('2', 'b', 'B')], [wanted('a', 'A')]);
    expect(plan).toEqual({
      create: [],
      keep: ['1'],
      handOver: [],
      drop: [{ id: '2', replacedBy: null, after: null }],
    });
  });

  describe('drops the entries of removed keys', () => {
    const [a, b, c] = [existing('1', 'a', 'A'), existing('2', 'b', 'B'), existing('3', 'c', 'C')];
    const after = (...plan: Parameters<typeof planEntries>) =>
      Object.fromEntries(planEntries(...plan).drop.map((dropped) => [dropped.id, dropped.after]));

    test('each after an added one: a key may have been renamed', () => {
      expect(after([a, b, c], [wanted('d', 'D'), wanted('e', 'E')])).toEqual({ 1: 'd', 2: 'e', 3: 'e' });
      expect(planEntries([a], [wanted('d', 'D')]).drop).toEqual([{ id: '1', replacedBy: null, after: 'd' }]);
    });

    test('not after a key that has changed its name, and those of the other keys', () => {
      expect(after([a, b], [wanted('a', 'new')])).toEqual({ 1: 'a', 2: null });
    });

    const waiting = { ...a, desired: 'absent' as const, waitsFor: '2' };

    test('also if they are planned again in between', () => {
      expect(after([waiting, b], [wanted('b', 'B'), wanted('d', 'D')])).toEqual({ 1: 'b' });
    });

    test('after what replaces the one that they wait for', () => {
      expect(after([waiting, b], [wanted('d', 'D')])).toEqual({ 1: 'd', 2: 'd' });
      expect(after([waiting, b], [])).toEqual({ 1: null, 2: null });
    });

    test('and does not hold up a removal that has begun', () => {
      expect(after([{ ...waiting, waitsFor: null }], [wanted('d', 'D')])).toEqual({ 1: null });
    });
  });

  test('drops the entry of the whole secret after that of a key when the granularity changes', () => {
    const plan = planEntries([existing('1', '', 'whole')], [wanted('a', 'A'), wanted('b', 'B')]);
    expect(plan.drop).toEqual([{ id: '1', replacedBy: 'a', after: 'a' }]);
  });

  test('hands the external secret of a key over to the key that has its name now', () => {
    const before = [existing('1', 'Pass', 'PASS'), existing('2', 'user', 'USER')];
    expect(planEntries(before, [wanted('user', 'USER'), wanted('PASS', 'PASS')])).toEqual({
      create: [],
      keep: ['2'],
      handOver: [{ id: '1', subKey: 'PASS', externalName: 'PASS' }],
      drop: [],
    });
  });

  test('lets keys swap their names, and removes what none of them has after the key that moves', () => {
    const before = [existing('1', 'a', 'x'), existing('2', 'b', 'y')];
    expect(planEntries(before, [wanted('a', 'y'), wanted('b', 'x')]).handOver).toEqual([
      { id: '1', subKey: 'b', externalName: 'x' },
      { id: '2', subKey: 'a', externalName: 'y' },
    ]);
    expect(planEntries(before, [wanted('a', 'y'), wanted('b', 'z')])).toEqual({
      create: [wanted('b', 'z')],
      keep: [],
      handOver: [{ id: '2', subKey: 'a', externalName: 'y' }],
      drop: [{ id: '1', replacedBy: 'a', after: 'a' }],
    });
  });

  test('spells a name anew that the destination treats as equal', () => {
    const renamed = { ...wanted('k', 'NAME'), collisionKey: 'name' };
    expect(planEntries([existing('1', 'k', 'name')], [renamed])).toEqual({
      create: [],
      keep: [],
      handOver: [{ id: '1', subKey: 'k', externalName: 'NAME' }],
      drop: [],
    });
  });

  test('keeps, hands over or drops every existing entry, and keeps, takes over or creates every wanted one', () => {
    const names = fc.uniqueArray(
      fc.tuple(fc.constantFrom('', 'a', 'b', 'c'), fc.constantFrom('x', 'y', 'z')),
      { selector: ([, name]) => name },
    );
    fc.assert(
      fc.property(names, names, (before, after) => {
        const entries = before.map(([key, name], index) => existing(String(index), key, name));
        const plan = planEntries(
          entries,
          after.map(([key, name]) => wanted(key, name)),
        );
        const continued = plan.keep.length + plan.handOver.length;
        expect(continued + plan.drop.length).toBe(before.length);
        expect(continued + plan.create.length).toBe(after.length);
      }),
    );
  });
});

describe('keepFormerNames', () => {
  const renamed = { ...wanted('ключ', '-----hash'), formerName: '----' };

  test('keeps the name that an earlier version gave, for the same key only', () => {
    expect(keepFormerNames([existing('1', 'ключ', '----')], [renamed])).toEqual([wanted('ключ', '----')]);
    expect(keepFormerNames([existing('1', 'тест', '----')], [renamed])).toEqual([renamed]);
    expect(keepFormerNames([], [renamed])).toEqual([renamed]);
  });

  test('does not keep a name that another key needs, or that is being removed', () => {
    const other = wanted('----', '----');
    expect(keepFormerNames([existing('1', 'ключ', '----')], [renamed, other])).toEqual([renamed, other]);
    const removed = { ...existing('1', 'ключ', '----'), desired: 'absent' as const };
    expect(keepFormerNames([removed], [renamed])).toEqual([renamed]);
  });
});
