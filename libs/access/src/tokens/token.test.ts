import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { expect, test } from '@jest/globals';
import { parseInternalKeys } from '@secrets/caller';
import {
  type BatchToken,
  batchTokenKeyRing,
  isWrappingToken,
  newAccessor,
  newToken,
  newWrappingToken,
  openBatchToken,
  sealBatchToken,
  tokenHash,
  tokenKind,
} from './token.ts';

const keyRing = () => batchTokenKeyRing(parseInternalKeys(randomBytes(32).toString('base64'), 'test'));
const payload: BatchToken = {
  accessor: null,
  namespace_id: 'root',
  policies: ['default'],
  display_name: 'ci',
  entity_id: null,
  metadata: { role: 'ci' },
  creation_path: 'auth/token/create',
  created_at: '2030-01-01T00:00:00.000Z',
  expires_at: '2030-01-01T01:00:00.000Z',
  bound_cidrs: [],
  parent_accessor: null,
  mount_id: null,
};

test('a generated token is valid, unique and never printed', () => {
  const token = newToken();
  expect(tokenKind(token.reveal())).toBe('service');
  expect(newToken().reveal()).not.toBe(token.reveal());
  expect(inspect(token)).not.toContain('sst_');
  expect(tokenHash(token.reveal())).toHaveLength(32);
});

test('an accessor consists of letters and digits', () => {
  for (let count = 0; count < 100; count++) expect(newAccessor()).toMatch(/^[A-Za-z0-9]{24}$/);
});

test('a wrapping token is not a token', () => {
  const token = newWrappingToken().reveal();
  expect([isWrappingToken(token), tokenKind(token)]).toEqual([true, undefined]);
  expect([isWrappingToken(`${token}a`), isWrappingToken(newToken().reveal())]).toEqual([false, false]);
});

test.each([
  '',
  'sst_',
  'sst_short',
  `sst_${'a'.repeat(44)}`,
  'sbt_',
  `sbt_${'a'.repeat(9000)}`,
  'sst_\n',
  'x',
  'a'.repeat(19),
  'a'.repeat(257),
  'twenty characters and blanks',
])('%j cannot be a token', (text) => expect(tokenKind(text)).toBeUndefined());

test('a root token that an operator chose is a service token', () => {
  expect(tokenKind('root-token-of-the-operator')).toBe('service');
});

test('a batch token decrypts to its payload', () => {
  const keys = keyRing();
  expect(openBatchToken(keys, sealBatchToken(keys, payload).reveal())).toEqual(payload);
});

test('refuses batch tokens of another installation, modified ones and other encodings of the same bytes', () => {
  const keys = keyRing();
  const token = sealBatchToken(keys, payload).reveal();
  expect(openBatchToken(keyRing(), token)).toBeUndefined();
  expect(openBatchToken(keys, `${token.slice(0, -8)}AAAAAAAA`)).toBeUndefined();
  expect(openBatchToken(keys, `${token}A`)).toBeUndefined();
  expect(openBatchToken(keys, `sbt_${randomBytes(200).toString('base64url')}`)).toBeUndefined();
  expect(openBatchToken(keys, 'sbt_AA')).toBeUndefined();
});

test('refuses to create a batch token that does not fit into a header', () => {
  expect(() => sealBatchToken(keyRing(), { ...payload, metadata: { a: 'x'.repeat(9000) } })).toThrow(
    RangeError,
  );
});
