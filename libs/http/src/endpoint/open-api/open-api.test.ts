import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
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

test('describes a wildcard by the endpoints in `describedAs`', () => {
  const wildcard = endpoint({ method: 'get', path: '/*path', summary: 'any', describedAs: [read], handle });
  expect(Object.keys(openApi('secrets', [wildcard]).paths)).toEqual(['/v1/{mount}/metadata/{path}']);
});

test('describes a path that can be read and listed once, with `list` as an optional parameter', () => {
  const { get } = openApi('secrets', [list, read]).paths['/v1/{mount}/metadata/{path}']!;
  expect(get?.summary).toBe('list; read');
  expect(get?.parameters.map(({ name, required }) => [name, required])).toEqual([
    ['mount', true],
    ['path', true],
    ['list', false],
    ['after', false],
  ]);
});

test('describes a path of mounts of several types once, with the fields of all of them', () => {
  const write = (body: z.ZodType) =>
    endpoint({ method: 'post', path: '/auth/:mount/role', summary: 'write', body, handle });
  const documents = openApi('login', [
    write(z.object({ jwt: z.string(), role: z.string() })),
    write(z.object({ jwt: z.string(), bound: z.boolean().optional() })),
  ]);
  const { post } = documents.paths['/v1/auth/{mount}/role']!;
  expect(post?.summary).toBe('write');
  expect(post?.requestBody).toMatchObject({
    required: true,
    content: {
      'application/json': {
        schema: {
          properties: { jwt: { type: 'string' }, role: { type: 'string' }, bound: { type: 'boolean' } },
          required: ['jwt'],
        },
      },
    },
  });
});
