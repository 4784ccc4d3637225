import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { openApi } from './open-api.ts';

const handle = async () => undefined;
const read = endpoint({ method: 'get', path: '/:mount/metadata/*path', summary: 'read', handle });
const list = endpoint({
  method: 'list',
  path: '/:mount/metadata/*path',
  summary: 'list',
  query: z.object({ after: z.string() }),
  handle,
});

test('a wildcard is described by what it stands for', () => {
  const wildcard = endpoint({ method: 'get', path: '/*path', summary: 'any', describedAs: [read], handle });
  expect(Object.keys(openApi('secrets', [wildcard]).paths)).toEqual(['/v1/{mount}/metadata/{path}']);
});

test('a path that is read and listed is described once, and `list` is not required', () => {
  const { get } = openApi('secrets', [list, read]).paths['/v1/{mount}/metadata/{path}']!;
  expect(get?.summary).toBe('list; read');
  expect(get?.parameters.map(({ name, required }) => [name, required])).toEqual([
    ['mount', true],
    ['path', true],
    ['list', false],
    ['after', false],
  ]);
});
