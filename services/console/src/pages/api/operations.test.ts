import { expect, test } from '@jest/globals';
import { operationsOf, search, typeOf } from './operations.ts';

const description = {
  info: { version: '1' },
  paths: {
    '/v1/sys/mounts/{path}': {
      get: { summary: 'Read a mount', tags: ['secrets'], responses: {} },
      post: {
        summary: 'Create a mount',
        requestBody: { content: { 'application/json': { example: { type: 'kv' } } } },
      },
      parameters: {},
    },
  },
};

test('each method of a path is an operation, and nothing else is', () => {
  expect(operationsOf(description)).toMatchObject([
    { method: 'GET', path: '/v1/sys/mounts/{path}', tag: 'secrets', body: undefined },
    { method: 'POST', body: { mediaType: 'application/json', example: { type: 'kv' } } },
  ]);
});

test.each([
  ['', 2],
  ['MOUNTS', 2],
  ['post mount', 1],
  ['create policy', 0],
])('a search finds what contains each of its words: %j', (text, count) => {
  expect(search(operationsOf(description), text)).toHaveLength(count);
});

test.each([
  [{}, 'anything'],
  [{ type: ['null', 'string'] }, 'null or string'],
  [{ type: 'array', items: { type: 'string' } }, 'array of string'],
  [{ enum: ['a', 1] }, '"a" or 1'],
  [{ const: 'true' }, '"true"'],
  [{ anyOf: [{ type: 'string' }, { type: 'string' }, { type: 'integer' }] }, 'string or integer'],
])('a type is shown in a few words: %j', (schema, text) => {
  expect(typeOf(schema)).toBe(text);
});
