import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Holder, mixesDevelopment, placeTargets } from './place-targets.ts';

const all = ['development', 'preview', 'production'];
const holder = (id: string, target: string[], type = 'encrypted'): Holder => ({ id, type, target });

function placed(holders: Holder[], wanted: string[], separatesDevelopment = false) {
  const { targets, created } = placeTargets(holders, wanted, { separatesDevelopment });
  return { ...Object.fromEntries(targets), created };
}

describe('environments', () => {
  test.each<[string, ReturnType<typeof placed>, object]>([
    ['get one new record if there is none', placed([], all), { created: [all] }],
    ['stay in their record', placed([holder('a', all)], all), { a: all, created: [] }],
    [
      'are added to the record that exists',
      placed([holder('a', ['preview'])], ['preview', 'production']),
      { a: ['preview', 'production'], created: [] },
    ],
    [
      'are added to a record that is in use rather than to one that is not',
      placed([holder('a', ['development']), holder('b', ['preview'])], ['preview', 'production']),
      { a: [], b: ['preview', 'production'], created: [] },
    ],
    [
      'move with a record',
      placed([holder('a', ['preview'])], ['production']),
      { a: ['production'], created: [] },
    ],
    [
      'of a sensitive record do not include development',
      placed([holder('a', ['production'], 'sensitive')], all),
      { a: ['production', 'preview'], created: [['development']] },
    ],
    [
      'are divided where development must be separate',
      placed([], all, true),
      { created: [['preview', 'production'], ['development']] },
    ],
    [
      'of a record are divided where development must be separate',
      placed([holder('a', all)], all, true),
      { a: ['preview', 'production'], created: [['development']] },
    ],
    [
      'that are already divided stay so',
      placed([holder('a', ['production'], 'sensitive'), holder('b', ['development'])], all),
      { a: ['production', 'preview'], b: ['development'], created: [] },
    ],
  ])('%s', (_, result, expected) => expect(result).toEqual(expected));

  test('are placed once each, and never mixed with development in a sensitive record', () => {
    const subset = fc.subarray(all);
    const holders = fc
      .tuple(fc.shuffledSubarray(all, { minLength: 3 }), fc.nat(3), fc.boolean())
      .map(([order, cut, isSensitive]): Holder[] => {
        const first = order.slice(0, cut);
        const type = isSensitive && !first.includes('development') ? 'sensitive' : 'encrypted';
        return [holder('a', first, type), holder('b', order.slice(cut))];
      });
    fc.assert(
      fc.property(holders, subset, fc.boolean(), (given, wanted, separatesDevelopment) => {
        const { targets, created } = placeTargets(given, wanted, { separatesDevelopment });
        expect([...targets.values(), ...created].flat().sort()).toEqual([...wanted].sort());
        for (const { id, type } of given)
          if (type === 'sensitive') expect(targets.get(id)).not.toContain('development');
        if (!separatesDevelopment) return;
        for (const target of [...targets.values(), ...created]) expect(mixesDevelopment(target)).toBe(false);
      }),
    );
  });
});
