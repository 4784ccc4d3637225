import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { builtInTags } from './built-in-tags.ts';
import { isLabelKey, labelOf, labelsOf } from './labels.ts';

test.each([
  ['Team', 'team'],
  ['Cost Centre: 42', 'cost-centre--42'],
  ['a_b-c', 'a_b-c'],
  ['größe', 'größe'],
  ['東京', '東京'],
  ['', ''],
  ['x'.repeat(70), 'x'.repeat(63)],
  ['東'.repeat(63), '東'.repeat(42)],
])('%s becomes the label %s', (text, label) => {
  expect(labelOf(text)).toBe(label);
});

test('every text becomes a valid label, and a label stays as it is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 100 }), (text) => {
      const label = labelOf(text);
      expect(label).toMatch(/^[\p{Ll}\p{Lo}\p{N}_-]{0,63}$/u);
      expect(Buffer.byteLength(label)).toBeLessThanOrEqual(128);
      expect(labelOf(label)).toBe(label);
    }),
  );
});

test('a key begins with a letter', () => {
  expect(['A', 'é', '東'].map(isLabelKey)).toEqual([true, true, true]);
  expect(['', '1a', '_a', '-a', ' a'].map(isLabelKey)).toEqual([false, false, false, false, false]);
});

test('built-in tags are valid labels already, and take precedence', () => {
  const tags = builtInTags('secrets', '5b0a6c3e-0000-4000-8000-000000000001');
  expect(labelsOf(tags)).toEqual(tags);
  expect(labelsOf({ 'managed by': 'x', ...tags })).toEqual(tags);
});
