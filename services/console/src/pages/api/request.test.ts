import { expect, test } from '@jest/globals';
import type { Operation } from './operations.ts';
import { draftOf, targetOf } from './request.ts';

const operation: Operation = {
  method: 'GET',
  path: '/v1/{mount}/data/{path}',
  summary: '',
  tag: 'secrets',
  parameters: [
    { name: 'mount', in: 'path', schema: {}, example: 'secret' },
    { name: 'path', in: 'path', schema: {} },
    { name: 'version', in: 'query', schema: {}, example: 3 },
  ],
  body: undefined,
  response: undefined,
};

test('a draft has the examples of what is required, and leaves the query out', () => {
  expect(draftOf(operation)).toEqual({ values: { mount: 'secret', path: '', version: '' }, body: '' });
});

test('values are encoded, except that their slashes separate segments', () => {
  const values = { mount: 'a b', path: 'shop/d?b%#', version: '' };
  expect(targetOf(operation, { values, body: '' })).toBe('/v1/a%20b/data/shop/d%3Fb%25%23');
  expect(targetOf(operation, { values: { mount: 'm', path: 'p', version: '1&2' }, body: '' })).toBe(
    '/v1/m/data/p?version=1%262',
  );
});
