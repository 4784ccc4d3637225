import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { namesOf } from '../../../libs/destinations/src/names/names-harness.ts';
import { requestsOf } from '../../../libs/destinations/src/request/requests-harness.ts';
import { notesKv } from './notes-kv.ts';

const { parse, refusal } = requestsOf(notesKv);
const complete = { access_token: 'canary-token' };

test.each<[string, object, RegExp]>([
  ['no access_token', { access_token: '' }, /^access_token: is required$/],
  ['a reference to a file', { access_token: '@/run/keys/canary' }, /^access_token: begins with @/],
  ['an invalid folder', { folder: 'A canary' }, /^folder: must have 1 to 40 lower-case letters/],
])('%s is refused, with a message that contains no value', (_, over, sentence) => {
  const refused = refusal({ ...complete, ...over });
  expect(refused).toMatch(sentence);
  expect(refused).not.toContain('canary');
});

test('the folder cannot be changed after creation', () => {
  const created = parse(complete);
  expect(created.settings).toMatchObject({ folder: 'main' });
  expect(refusal({ folder: 'other' }, created)).toMatch(/^folder: cannot be changed/);
});

test('the default name is valid for every path and key', () => {
  const nameOf = namesOf(notesKv);
  expect(nameOf({ SecretPath: 'a/é b' })).toBe('secrets_kv_1234_a___b_b2378fc668db001e');
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 400 }), (text) => {
      expect(notesKv.nameRule.check(nameOf({ SecretPath: text, SecretKey: text }))).toBeUndefined();
    }),
  );
});
