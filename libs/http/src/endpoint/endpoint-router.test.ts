import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Problem } from '@secrets/domain';
import { createLogger, createMetrics } from '@secrets/telemetry';
import { z } from 'zod';
import { serviceApp } from '../service-app/service-app.ts';
import { serveForTest, type TestService, testCaller, testKeys } from '../testing.ts';
import { endpoint } from './endpoint.ts';
import { flag, integer, seconds, stringList } from './fields.ts';

const keys = testKeys();
const lines: string[] = [];
let brokerIsUp = true;
let service: TestService;

const things = [
  endpoint({
    method: 'post',
    path: '/nulls',
    summary: 'Take nulls',
    body: z.object({
      name: z.string().optional(),
      count: integer.default(7),
      options: z.object({ deep: z.string().optional() }).optional(),
      cleared: z.record(z.string(), z.string()).nullable().optional(),
      data: z.record(z.string(), z.unknown()).optional(),
    }),
    handle: async ({ body }) => ({ data: body }),
  }),
  endpoint({
    method: 'patch',
    path: '/nulls',
    summary: 'Remove by null',
    body: z.object({ name: z.string().nullable() }),
    handle: async ({ body }) => ({ data: body }),
  }),
  endpoint({
    method: 'post',
    path: '/things/:name',
    summary: 'Write a thing',
    params: z.object({ name: z.string() }),
    body: z.object({
      count: integer,
      on: flag.default(false),
      list: stringList.default([]),
      ttl: seconds.default(0),
    }),
    handle: async ({ params, body, warn }) => {
      if (body.count === 13) warn('unlucky');
      return { data: { ...params, ...body } };
    },
  }),
  endpoint({ method: 'get', path: '/things/:name', summary: 'Read', handle: async () => ({ data: 'read' }) }),
  endpoint({
    method: 'list',
    path: '/things/:name',
    summary: 'List',
    handle: async () => ({ data: 'list' }),
  }),
  endpoint({ method: 'delete', path: '/things/:name', summary: 'Delete', handle: async () => undefined }),
  endpoint({
    method: 'patch',
    path: '/things/:name',
    summary: 'Patch',
    body: z.object({ a: z.string() }),
    handle: async ({ body }) => ({ data: body }),
  }),
  endpoint({
    method: 'get',
    path: '/deep/*path',
    summary: 'Deep',
    params: z.object({ path: z.string() }),
    handle: async ({ params }) => ({ data: params.path }),
  }),
  endpoint({
    method: 'get',
    path: '/fail/problem',
    summary: 'Fail',
    handle: async () => {
      throw new Problem('queue_full', 'full', { retryAfterSeconds: 7 });
    },
  }),
  endpoint({
    method: 'get',
    path: '/fail/text',
    summary: 'Fail as Postgres does for text that it cannot hold',
    query: z.object({ code: z.string(), message: z.string().default('canary of the inside') }),
    handle: async ({ query }) => {
      throw Object.assign(new Error(query.message), { code: query.code });
    },
  }),
  endpoint({
    method: 'get',
    path: '/fail/crash',
    summary: 'Crash',
    handle: async () => {
      throw new Error('canary of the inside');
    },
  }),
  endpoint({
    method: 'get',
    path: '/between',
    summary: 'Between services',
    from: 'sync-control',
    handle: async () => ({ data: 'yes' }),
  }),
];

beforeAll(async () => {
  const log = createLogger({ service: 'test', destination: { write: (line) => void lines.push(line) } });
  const readiness = {
    broker: async () => {
      if (!brokerIsUp) throw new Error('down');
    },
  };
  const app = serviceApp({
    service: 'test',
    endpoints: things,
    keys,
    log,
    metrics: createMetrics('test', { processMetrics: false }),
    readiness,
  });
  service = await serveForTest(app, 'test', keys);
});
afterAll(() => service.stop());

describe('what comes in', () => {
  test('fields are lenient: numbers and booleans as strings, lists as one string, durations in words', async () => {
    const { status, body } = await service.call('PUT', '/things/a', {
      count: '3',
      on: 'true',
      list: 'x, y',
      ttl: '1h30m',
    });
    expect(status).toBe(200);
    expect(body.data).toEqual({ name: 'a', count: 3, on: true, list: ['x', 'y'], ttl: 5400 });
  });

  test('unknown fields are accepted and named', async () => {
    const { body } = await service.call('POST', '/things/a', { count: 13, colour: 'red' });
    expect(body.warnings).toEqual(expect.arrayContaining(['unlucky', 'unknown field colour was ignored']));
  });

  test('null means the same as an absent field, also in nested objects, unless the field gives it a meaning', async () => {
    const body = { name: null, count: null, options: { deep: null }, cleared: null, data: { kept: null } };
    const response = await service.call('POST', '/nulls', body);
    expect(response.status).toBe(200);
    expect(response.body.data).toEqual({ count: 7, options: {}, cleared: null, data: { kept: null } });
    expect((await service.call('POST', '/things/a', { count: null })).body.errors).toEqual([
      'count is required',
    ]);
  });

  test('null in a patch reaches the endpoint as a value', async () => {
    expect((await service.call('PATCH', '/nulls', { name: null })).body.data).toEqual({ name: null });
  });

  test('a body for an endpoint that takes none is named too, and of very many fields only some are', async () => {
    const { status, body } = await service.call('DELETE', '/things/a', { versions: [1] });
    expect([status, body.warnings]).toEqual([200, ['unknown field versions was ignored']]);
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`f${index}`, 1]));
    const { warnings } = (await service.call('POST', '/things/a', { count: 1, ...many })).body;
    expect([warnings.length, warnings.at(-2), warnings.at(-1)]).toEqual([
      21,
      'unknown field f19 was ignored',
      '30 more unknown fields were ignored',
    ]);
  });

  test.each([
    [{}, 'count is required'],
    [{ count: 'many' }, 'count: must be a whole number'],
    [{ count: 1, ttl: 'soon' }, 'ttl: must be a duration'],
    [[], 'JSON object'],
  ])('%j is refused, naming the field', async (given, sentence) => {
    const { status, body } = await service.call('POST', '/things/a', given);
    expect(status).toBe(400);
    expect(body.errors.join()).toContain(sentence);
  });

  test('what curl sends for -d without a type is taken as JSON, for PATCH too', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const { status } = await fetch(`${service.url}/v1/things/a`, {
      method: 'PATCH',
      body: '{"a":"b"}',
      headers,
    });
    expect(status).toBe(403); // understood, and without an assertion
  });

  test('a body that is no JSON, too large, or of another type', async () => {
    const send = (text: string, type: string) =>
      fetch(`${service.url}/v1/things/a`, { method: 'POST', body: text, headers: { 'content-type': type } });
    expect((await send('{"count":', 'application/json')).status).toBe(400);
    expect((await send(`{"count":"${'x'.repeat(1_100_000)}"}`, 'application/json')).status).toBe(413);
    expect((await send('<a/>', 'application/xml')).status).toBe(415);
    expect((await send('{"count":1}', 'application/x-www-form-urlencoded')).status).toBe(403); // read as JSON, then no assertion
  });

  test('a body that is not UTF-8 is refused, rather than kept with other characters', async () => {
    const send = (body: Buffer, type: string) =>
      fetch(`${service.url}/v1/things/a`, { method: 'POST', body, headers: { 'content-type': type } });
    const latin1 = await send(Buffer.from('{"name":"p\xe4ss"}', 'latin1'), 'application/json');
    expect([latin1.status, await latin1.json()]).toEqual([400, { errors: ['the body is not valid UTF-8'] }]);
    const utf16 = Buffer.from('{"count":9007199254740993}', 'utf16le');
    expect((await send(utf16, 'application/json; charset=utf-16le')).status).toBe(415);
    const marked = Buffer.from('\ufeff{"count":9007199254740993}');
    expect((await send(marked, 'application/json')).status).toBe(400);
    expect((await send(Buffer.from('{"a":"ä"}'), 'application/json; charset=UTF-8')).status).toBe(403); // understood
  });

  test('less than a second is a second: 0 would mean none', async () => {
    const { body } = await service.call('POST', '/things/a', { count: 1, ttl: '500ms' });
    expect(body.data.ttl).toBe(1);
    const tooLong = await service.call('POST', '/things/a', { count: 1, ttl: '900000h' });
    expect(tooLong.body.errors[0]).toContain('at most 100 years');
  });

  test('a wildcard is one string, slashes and all', async () => {
    expect((await service.call('GET', '/deep/a/b%20c/d')).body.data).toBe('a/b c/d');
  });
});

describe('what goes out', () => {
  test('the envelope carries the request id of the caller', async () => {
    const { body, headers } = await service.call(
      'GET',
      '/things/a',
      undefined,
      testCaller({ requestId: 'r-1' }),
    );
    expect(body).toEqual({
      request_id: 'r-1',
      lease_id: '',
      lease_duration: 0,
      renewable: false,
      data: 'read',
      wrap_info: null,
      warnings: null,
      auth: null,
    });
    expect(headers.get('x-request-id')).toBe('r-1');
  });

  test('nothing to report is 204; a list is told from a read', async () => {
    expect((await service.call('DELETE', '/things/a')).status).toBe(204);
    expect((await service.call('LIST', '/things/a')).body.data).toBe('list');
  });

  test('unknown paths are 404, other methods 405', async () => {
    expect((await service.call('GET', '/nothing')).status).toBe(404);
    expect((await service.call('POST', '/deep/x', {})).status).toBe(405);
  });

  test('a problem has its status, sentence and Retry-After', async () => {
    const { status, body, headers } = await service.call('GET', '/fail/problem');
    expect([status, body.errors, headers.get('retry-after')]).toEqual([429, ['full'], '7']);
  });

  test('a crash shows a fixed sentence outside and its cause in the log', async () => {
    const { status, body } = await service.call(
      'GET',
      '/fail/crash',
      undefined,
      testCaller({ requestId: 'r-2' }),
    );
    expect(status).toBe(500);
    expect(JSON.stringify(body)).not.toContain('canary');
    expect(lines.join()).toMatch(/canary of the inside/);
    expect(lines.join()).toContain('r-2');
  });
});

describe('who may ask', () => {
  test('nobody without an assertion', async () => {
    expect((await fetch(`${service.url}/v1/things/a`)).status).toBe(403);
  });

  test('an endpoint between services is not for the gateway', async () => {
    expect((await service.call('GET', '/between')).status).toBe(403);
    expect((await service.call('GET', '/between', undefined, testCaller(), 'sync-control')).body.data).toBe(
      'yes',
    );
  });
});

test('readiness names what is missing, the API describes itself, metrics are served', async () => {
  brokerIsUp = false;
  const unready = await fetch(`${service.url}/readyz`);
  expect([unready.status, await unready.json()]).toEqual([503, { ready: false, missing: ['broker'] }]);
  brokerIsUp = true;
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
  const described = (await (await fetch(`${service.url}/openapi.json`)).json()) as {
    paths: Record<string, object>;
  };
  expect(Object.keys(described.paths)).toContain('/v1/things/{name}');
  expect(Object.keys(described.paths)).not.toContain('/v1/between');
  expect((await fetch(`${service.url}/metrics`)).status).toBe(200);
});

test('a list is never answered with what a read gives', async () => {
  // A policy that grants `list` alone lets LIST through the gateway.
  expect((await service.call('LIST', '/deep/a/b')).status).toBe(405);
  expect((await service.call('GET', '/deep/a/b?list=1')).status).toBe(405);
  expect((await service.call('GET', '/deep/a/b')).body.data).toBe('a/b');
});

test('text that the database cannot hold is the client’s fault, and no line of the log', async () => {
  const before = lines.length;
  const asked = ['code=22021', 'code=22P05', 'code=22P02&message=invalid+input+syntax+for+type+json'];
  for (const query of asked) {
    const { status, body } = await service.call('GET', `/fail/text?${query}`);
    expect([status, body.errors]).toEqual([
      400,
      ['a text of the request holds a character that cannot be stored'],
    ]);
  }
  expect(lines.length).toBe(before);
  expect((await service.call('GET', '/fail/text?code=22P02')).status).toBe(500);
});
