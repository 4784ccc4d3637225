import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { excessIn, excessOf } from './json-budget.ts';

const large = { depth: 1_000_000, values: 10_000_000 };
const bytes = (text: string) => Buffer.from(text);

/** Walks what the parser returns. */
function measured(value: unknown): { depth: number; values: number } {
  if (typeof value !== 'object' || value === null) return { depth: 0, values: 1 };
  const inner = Object.values(value).map(measured);
  return {
    depth: 1 + Math.max(0, ...inner.map(({ depth }) => depth)),
    values: 1 + inner.reduce((sum, { values }) => sum + values, 0),
  };
}

test('exactly the depth and number of values that the parser finds are within a budget', () => {
  const indents = fc.constantFrom(undefined, 1, '\t');
  fc.assert(
    fc.property(fc.json({ maxDepth: 6, noUnicodeString: false }), indents, (json, indent) => {
      const value: unknown = JSON.parse(json);
      const text = bytes(JSON.stringify(value, null, indent));
      const budget = measured(value);
      for (const excess of [
        (of: typeof budget) => excessOf(text, of),
        (of: typeof budget) => excessIn(value, of),
      ]) {
        expect(excess(budget)).toBeUndefined();
        expect(excess({ ...budget, values: budget.values - 1 })).toMatch(/^has more than .* values$/);
        const flatter = { ...budget, depth: budget.depth - 1 };
        if (budget.depth > 0) expect(excess(flatter)).toMatch(/^is nested deeper than .* levels$/);
      }
    }),
    { numRuns: 1_000 },
  );
});

test.each([
  ['escaped quotes', `["${'\\"['.repeat(500)}"]`],
  ['backslashes before the end', `["${'\\\\'.repeat(500)}",[`.replace('[', '')],
  ['a long string', `["${'[{,'.repeat(5_000)}\\"[[["]`],
  ['a string that does not end', `"${'['.repeat(5_000)}`],
  ['multi-byte characters', `["${'ä[€,😀'.repeat(500)}"]`],
])('the content of strings does not count: %s', (_what, text) => {
  expect(excessOf(bytes(text), { depth: 1, values: 3 })).toBeUndefined();
});

describe('a text that is not JSON', () => {
  test.each(['', ']]]', '}}[[', '"', '\\', '1 2 3', ',', '[,,,]'])('%j does not fail', (text) => {
    expect(() => excessOf(bytes(text), large)).not.toThrow();
  });

  test('is refused as soon as it exceeds the budget', () => {
    const text = bytes('['.repeat(1_000_000));
    let read = 0;
    const watched = new Proxy(text, {
      get: (target, name) => {
        if (typeof name === 'string' && /^\d/.test(name)) read += 1;
        return Reflect.get(target, name, target);
      },
    });
    expect(excessOf(watched, { depth: 100, values: 1_000 })).toBe('is nested deeper than 100 levels');
    expect(read).toBe(101);
  });
});

test('names the limit', () => {
  expect(excessOf(bytes('[1,2,3]'), { depth: 1, values: 3 })).toBe('has more than 3 values');
  expect(excessOf(bytes(`[${'1,'.repeat(9_999)}1]`), { depth: 1, values: 10_000 })).toBe(
    'has more than 10,000 values',
  );
});
