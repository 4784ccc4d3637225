import { expect, test } from '@jest/globals';
import { parseExactly } from '@secrets/domain';
import { mergePatch } from './merge-patch.ts';

const parsed = (text: string) => parseExactly(text) as Record<string, unknown>;

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
  [
    '{"a":1.10,"b":{"c":9007199254740993}}',
    '{"b":{"d":2.0}}',
    '{"a":1.10,"b":{"c":9007199254740993,"d":2.0}}',
  ],
  ['{"a":1.10}', '{"a":{"b":null}}', '{"a":{}}'],
])('merging %s with the patch %s returns %s', (target, patch, merged) => {
  expect(JSON.stringify(mergePatch(parsed(target), parsed(patch)))).toBe(merged);
});
