import { expect, test } from '@jest/globals';
import { parseExactly, SecretData } from '@secrets/domain';
import { z } from 'zod';
import { flag, integer, seconds, stringList, stringMap } from './fields.ts';
import { lenientInput } from './lenient-input.ts';

const Body = z.object({
  required: z.string().min(1).optional(),
  count: integer.default(7),
  on: flag.optional(),
  ttl: seconds.optional(),
  list: stringList.optional(),
  kind: z.enum(['a', 'b']).optional(),
  text: z.string().optional(),
  options: z
    .object({
      cas: integer.nullish(),
      deep: z.object({ list: z.array(z.object({ a: integer.optional() })) }),
    })
    .partial()
    .optional(),
  map: stringMap.nullable().optional(),
  free: z.record(z.string(), z.unknown()).optional(),
  data: SecretData.optional(),
  anything: z.unknown(),
});

const understood = (text: string) => JSON.stringify(lenientInput(Body, parseExactly(text)));

test.each([
  ['{"count":null,"options":{"deep":null,"cas":null}}', '{"options":{"cas":null}}'],
  ['{"options":{"deep":{"list":[{"a":null}]}}}', '{"options":{"deep":{"list":[{}]}}}'],
  ['{"map":null,"data":{"a":null},"free":{"a":null}}', '{"map":null,"data":{"a":null},"free":{"a":null}}'],
  ['{"unknown":null,"other":9007199254740993,"options":{"cas":1,"more":1}}', '{"options":{"cas":1}}'],
])('null is absent unless the schema accepts it: %s is %s', (given, meant) => {
  expect(understood(given)).toBe(meant);
});

test.each([
  ['{"required":"","count":"","on":"","kind":"","options":""}', '{}'],
  [
    '{"text":"","ttl":"","list":"","data":{"a":""},"free":{"a":""}}',
    '{"text":"","ttl":"","list":"","data":{"a":""},"free":{"a":""}}',
  ],
])('an empty text is absent unless the schema accepts it: %s is %s', (given, meant) => {
  expect(understood(given)).toBe(meant);
});

test('an empty text is not taken for an absent list, which could mean everything', () => {
  const Selection = z.object({ ids: stringList.refine((given) => given.length > 0).optional() });
  expect(lenientInput(Selection, { ids: '' })).toEqual({ ids: '' });
});

test('an empty text in a required field is kept, so that it is refused', () => {
  expect(lenientInput(z.object({ name: z.string().min(1) }), { name: '' })).toEqual({ name: '' });
});

test.each([
  [
    '{"count":7.0,"options":{"cas":1e1},"free":{"days":[7.0]}}',
    '{"count":7,"options":{"cas":10},"free":{"days":[7]}}',
  ],
  [
    '{"data":{"a":[1.0,9007199254740993]},"anything":{"a":1.10}}',
    '{"data":{"a":[1.0,9007199254740993]},"anything":{"a":1.10}}',
  ],
])('numbers keep their notation only in values that may be any JSON: %s is %s', (given, meant) => {
  expect(understood(given)).toBe(meant);
});

test.each([
  ['{"options":{"cas":9007199254740993}}', 'options.cas'],
  ['{"free":{"days":[1,1e400]}}', 'free.days.1'],
])('refuses a number that would lose digits: %s', (given, field) => {
  expect(() => understood(given)).toThrow(`${field}: the number would lose digits; send it as a string`);
});
