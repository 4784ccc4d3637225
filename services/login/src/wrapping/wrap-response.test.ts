import { afterEach, expect, jest, test } from '@jest/globals';
import { envelope } from '@secrets/http';
import { seal } from '@secrets/seal';
import { wrappedAccessorIn } from './wrap-response.ts';

afterEach(() => void jest.restoreAllMocks());

const accessorIn = (reply: Parameters<typeof envelope>[1]) =>
  wrappedAccessorIn(seal(JSON.stringify(envelope('r', reply))));

test('a response without a token is not parsed for its accessor', () => {
  const parse = jest.spyOn(JSON, 'parse');
  expect(accessorIn({ data: { auth: { accessor: 'a' } } })).toBeNull();
  expect(parse).not.toHaveBeenCalled();
});

test.each<[unknown, string | null]>([
  [{ accessor: 'a', metadata: { auth: null } }, 'a'],
  [{ accessor: 'a', note: '"auth":null}' }, 'a'],
  [{ accessor: '' }, null],
  [{}, null],
])('the accessor in a response with auth %j is %j', (auth, accessor) => {
  expect(accessorIn({ auth: auth as object })).toBe(accessor);
});
