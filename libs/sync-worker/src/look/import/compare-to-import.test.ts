import { expect, test } from '@jest/globals';
import { seal } from '@secrets/seal';
import type { Look } from '../../driver/look.ts';
import { compareToImport } from './compare-to-import.ts';

const present = { exists: true, belongs: 'none', mark: '1', isUntouched: false, changedAt: null } as const;

/** The state of an external secret with these values, one for each of its records. */
async function stateOf(
  importedAs: 'json' | 'key',
  values: string[],
  more: Partial<Extract<Look, { exists: true }>> = {},
) {
  const {
    state: { state, reason },
  } = await compareToImport(
    { importedAs, isSame: (text) => text.reveal() === '{"a":1}' },
    async (isSameValue) => {
      const isSame = values.every((value) => isSameValue(seal(value)));
      return { ...present, value: isSame ? 'same' : 'different', ...more };
    },
  );
  return reason === null ? state : `${state}: ${reason}`;
}

test.each([
  ['json', ['{"a":1}'], {}, 'equal'],
  ['json', ['{"a":2}'], {}, 'different'],
  ['json', ['{}'], { belongs: 'own' }, 'different'],
  ['json', ['text'], {}, 'unknown: its value is not a JSON object; import it as key'],
  ['json', ['[1]'], {}, 'unknown: its value is not a JSON object; import it as key'],
  ['json', ['null'], {}, 'unknown: its value is not a JSON object; import it as key'],
  ['key', ['text'], {}, 'different'],
  ['key', ['{"a":1}'], {}, 'equal'],
  ['key', ['{"a":1}', '{"a":1}'], {}, 'equal'],
  ['key', ['{"a":1}', 'b'], {}, 'unknown: its value is not the same in all environments'],
  ['key', [], {}, 'unknown: it has no value that is text'],
  ['key', [], { value: 'unread' }, 'unknown: the store does not return the value'],
  ['key', ['text'], { belongs: 'other' }, 'another_destination'],
  ['key', ['text'], { belongs: 'provider' }, 'provider'],
] as const)(
  'an external secret that would be imported as %s, with values %j %j, is %s',
  async (as, values, more, state) => {
    expect(await stateOf(as, [...values], more)).toBe(state);
  },
);

test('an external secret that does not exist is absent', async () => {
  const comparison = { importedAs: 'json', isSame: () => true } as const;
  const look = await compareToImport(comparison, async () => ({ exists: false }));
  expect(look).toEqual({ state: { state: 'absent', reason: null } });
});
