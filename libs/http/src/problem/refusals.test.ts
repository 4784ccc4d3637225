import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createMetrics, silentLogger } from '@secrets/telemetry';
import { z } from 'zod';
import { endpoint } from '../endpoint/endpoint.ts';
import { serviceApp } from '../service-app/service-app.ts';
import { serveForTest, type TestService, testKeys } from '../testing.ts';

const keys = testKeys();
let service: TestService;

const endpoints = [
  endpoint({
    method: 'get',
    path: '/*path',
    summary: 'Matches every other path',
    params: z.object({ path: z.string() }),
    handle: async ({ params }) => ({ data: params.path }),
  }),
  endpoint({
    method: 'patch',
    path: '/*path',
    summary: 'The same',
    handle: async () => ({ data: 'any' }),
  }),
  endpoint({ method: 'get', path: '/things/:name', summary: 'Read', handle: async () => ({ data: 'read' }) }),
  endpoint({
    method: 'post',
    path: '/things/:name',
    summary: 'Write',
    body: z.object({
      text: z.string().min(1).max(3).optional(),
      count: z.number().min(2).max(5).optional(),
      list: z.array(z.string()).min(1).optional(),
      map: z.record(z.string(), z.string()).optional(),
      kind: z.enum(['a', 'b']).optional(),
      either: z.union([z.string(), z.null()]).optional(),
      options: z.object({ cas: z.number().optional() }).default({}),
      deep: z.object({ name: z.string().min(1) }).optional(),
    }),
    handle: async () => undefined,
  }),
];

beforeAll(async () => {
  const metrics = createMetrics('test', { processMetrics: false });
  const app = serviceApp({
    ...{ service: 'test', endpoints, keys, log: silentLogger(), metrics },
    ...{ readiness: {}, databaseTime: Date.now },
  });
  service = await serveForTest(app, 'test', keys);
});
afterAll(() => service.stop());

test.each<[object, string]>([
  [{ text: 7 }, 'text: must be a string'],
  [{ deep: { name: '' } }, 'deep.name: must not be empty'],
  [{ text: 'long' }, 'text: must have at most 3 characters'],
  [{ count: 'x' }, 'count: must be a number'],
  [{ count: 1 }, 'count: must be at least 2'],
  [{ count: 6 }, 'count: must be at most 5'],
  [{ list: 'x' }, 'list: must be a list'],
  [{ list: [] }, 'list: must not be empty'],
  [{ map: [] }, 'map: must be a JSON object'],
  [{ map: { a: 1 } }, 'map.a: must be a string'],
  [{ kind: 'c' }, 'kind: must be one of a, b'],
  [{ either: 1 }, 'either: has the wrong type'],
])('responds to the body %j with "%s"', async (body, message) => {
  const response = await service.call('POST', '/things/a', body);
  expect([response.status, response.body.errors]).toEqual([400, [message]]);
});

test('warns about unknown fields by their full path', async () => {
  const { body } = await service.call('POST', '/things/a', { options: { cas: 1, foo: 2 }, bar: 3 });
  expect(body.warnings).toEqual(['unknown field options.foo was ignored', 'unknown field bar was ignored']);
});

test('responds with 405 and `Allow` to an unsupported method of a known path, even if a wildcard matches every path', async () => {
  const { status, headers } = await service.call('PATCH', '/things/a', {});
  expect([status, headers.get('allow')]).toEqual([405, 'GET, POST, PUT']);
  expect((await service.call('PATCH', '/other/a', {})).status).toBe(200);
  expect((await service.call('GET', '/other/a')).body.data).toBe('other/a');
});
