import { expect, test } from '@jest/globals';
import { durationText } from './duration-text.ts';
import { mergePatch } from './merge-patch.ts';
import { subkeys } from './subkeys.ts';

// The examples of RFC 7386, appendix A, whose target and patch are objects.
test.each([
  ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
  ['{"a":"b"}', '{"a":null}', '{}'],
  ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
  ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
  ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
  ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
  ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
  ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
  ['{}', '{"__proto__":{"a":1}}', '{"__proto__":{"a":1}}'],
])('%s and %s make %s', (target, patch, merged) => {
  expect(JSON.stringify(mergePatch(JSON.parse(target), JSON.parse(patch)))).toBe(merged);
});

test('subkeys end at the depth asked for', () => {
  expect(subkeys({ a: { b: { c: 1 } } }, 2)).toEqual({ a: { b: null } });
});

test.each([
  [0, '0s'],
  [59, '59s'],
  [3_600, '1h0m0s'],
  [12_319, '3h25m19s'],
  [60, '1m0s'],
])('%i seconds read %s', (seconds, text) => {
  expect(durationText(seconds)).toBe(text);
});
