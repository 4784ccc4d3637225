import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { assertionHeader, signAssertion } from '@secrets/caller';
import { Problem } from '@secrets/domain';
import { createLogger, createMetrics } from '@secrets/telemetry';
import { z } from 'zod';
import { serviceApp } from '../service-app/service-app.ts';
import { serveForTest, type TestService, testCaller, testKeys } from '../testing.ts';
import { endpoint } from './endpoint.ts';
import { endpointServer } from './endpoint-server.ts';
import { flag, integer, seconds, stringList } from './input/fields.ts';

const keys = testKeys();
const logLines: string[] = [];
let brokerIsUp = true;
let service: TestService;

const endpoints = [
  endpoint({
    method: 'post',
    path: '/nulls',
    summary: 'Accept nulls',
    needs: 'create or update',
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
    method: 'post',
    path: '/public',
    summary: 'Accept anybody',
    needs: 'no token',
    handle: async () => undefined,
  }),
  endpoint({
    method: 'post',
    path: '/values',
    summary: 'Write a value',
    body: z.unknown(),
    budget: 'secret',
    handle: async () => undefined,
  }),
  endpoint({
    method: 'post',
    path: '/internal',
    summary: 'Accept another service',
    from: 'sync-control',
    handle: async () => undefined,
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
  endpoint({
    method: 'get',
    path: '/issued',
    summary: 'Issue a token',
    handle: async () => ({ auth: { client_token: 'tä', accessor: 'a' } }),
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
    path: '/fail/outage',
    summary: 'Fail because of an outage',
    handle: async () => {
      throw new Problem('unavailable', 'down', { cause: new Error('canary') });
    },
  }),
  endpoint({
    method: 'get',
    path: '/fail/text',
    summary: 'Fail as Postgres does for text that it cannot store',
    query: z.object({ code: z.string(), message: z.string().default('internal canary') }),
    handle: async ({ query }) => {
      throw Object.assign(new Error(query.message), { code: query.code });
    },
  }),
  endpoint({
    method: 'get',
    path: '/fail/crash',
    summary: 'Crash',
    handle: async () => {
      throw new Error('internal canary');
    },
  }),
  endpoint({
    method: 'get',
    path: '/internal',
    summary: 'Internal',
    from: 'sync-control',
    handle: async () => ({ data: 'yes' }),
  }),
];

const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);

interface Sent {
  method?: string;
  type?: string;
  encoding?: string;
  /** The body that is signed; by default, the one that is sent. */
  signed?: string;
}

/** Sends a body as it is to `/things/a`. */
function send(body: string | Buffer | undefined, sent: Sent = {}): Promise<globalThis.Response> {
  const { method = 'POST', type = 'application/json', encoding, signed } = sent;
  const line = { from: 'gateway', to: 'test', method, path: '/v1/things/a' };
  const headers = {
    [assertionHeader]: signAssertion(keys, { ...line, body: signed ?? body }, testCaller()),
    'content-type': type,
    ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
  };
  return fetch(`${service.url}${line.path}`, { method, headers, ...(body === undefined ? {} : { body }) });
}

beforeAll(async () => {
  const log = createLogger({ service: 'test', destination: { write: (line) => void logLines.push(line) } });
  const readiness = {
    broker: async () => {
      if (!brokerIsUp) throw new Error('down');
    },
  };
  const app = serviceApp({
    service: 'test',
    endpoints,
    keys,
    log,
    metrics: createMetrics('test', { processMetrics: false }),
    readiness,
    databaseTime: Date.now,
  });
  service = await serveForTest(app, 'test', keys);
});
afterAll(() => service.stop());

describe('requests', () => {
  test('accepts numbers and booleans as strings, lists as one string and durations with units', async () => {
    const { status, body } = await service.call('PUT', '/things/a', {
      count: '3',
      on: 'true',
      list: 'x, y',
      ttl: '1h30m',
    });
    expect(status).toBe(200);
    expect(body.data).toEqual({ name: 'a', count: 3, on: true, list: ['x', 'y'], ttl: 5400 });
  });

  test('accepts unknown fields with a warning', async () => {
    const { body } = await service.call('POST', '/things/a', { count: 13, colour: 'red' });
    expect(body.warnings).toEqual(expect.arrayContaining(['unlucky', 'unknown field colour was ignored']));
  });

  test.each([
    ['has more than 1,000 values', '/things/a', Array(1_000).fill(1)],
    ['is nested deeper than 32 levels', '/things/a', nested(33)],
    ['has more than 5,010 values', '/values', Array(5_010).fill(1)],
    ['is nested deeper than 101 levels', '/values', nested(102)],
  ])('refuses a body that %s at %s, whatever it contains', async (excess, path, body) => {
    const response = await service.call('POST', path, body);
    expect(response).toMatchObject({ status: 400, body: { errors: [`the body ${excess}`] } });
  });

  test('treats null as an absent field, in nested objects too, unless the schema of the field accepts null', async () => {
    const body = { name: null, count: null, options: { deep: null }, cleared: null, data: { kept: null } };
    const response = await service.call('POST', '/nulls', body);
    expect(response.status).toBe(200);
    expect(response.body.data).toEqual({ count: 7, options: {}, cleared: null, data: { kept: null } });
    expect((await service.call('POST', '/things/a', { count: null })).body.errors).toEqual([
      'count is required',
    ]);
  });

  test('passes null in a patch to the endpoint as a value', async () => {
    expect((await service.call('PATCH', '/nulls', { name: null })).body.data).toEqual({ name: null });
  });

  test('warns about the body of an endpoint that accepts none, and names at most 20 unknown fields', async () => {
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
  ])('refuses %j with 400 and "%s"', async (input, message) => {
    const { status, body } = await service.call('POST', '/things/a', input);
    expect(status).toBe(400);
    expect(body.errors.join()).toContain(message);
  });

  test('parses the default content type of curl -d as JSON, for PATCH too', async () => {
    const type = 'application/x-www-form-urlencoded';
    expect((await send('{"a":"b"}', { type, method: 'PATCH' })).status).toBe(200);
    expect((await send('{"count":1}', { type })).status).toBe(200);
  });

  test('refuses invalid JSON with 400, a body over 1 MiB with 413, another content type with 415', async () => {
    expect((await send('{"count":')).status).toBe(400);
    expect((await send(`{"count":"${'x'.repeat(1_100_000)}"}`)).status).toBe(413);
    expect((await send('<a/>', { type: 'application/xml' })).status).toBe(415);
    expect((await send('count=1', { type: 'text/plain' })).status).toBe(400);
  });

  test.each(['text/plain', 'text/plain;charset=UTF-8', 'application/x-www-form-urlencoded'])(
    'accepts JSON that a program sends as %s, its default',
    async (type) => expect((await send('{"count":1}', { type })).status).toBe(200),
  );

  test('refuses a body that is not UTF-8 instead of storing other characters', async () => {
    const latin1 = await send(Buffer.from('{"name":"p\xe4ss"}', 'latin1'));
    expect([latin1.status, await latin1.json()]).toEqual([400, { errors: ['the body is not valid UTF-8'] }]);
    const utf16 = Buffer.from('{"count":9007199254740993}', 'utf16le');
    expect((await send(utf16, { type: 'application/json; charset=utf-16le' })).status).toBe(415);
    expect((await send(Buffer.from('\ufeff{"count":9007199254740993}'))).status).toBe(400);
    expect((await send(Buffer.from('\ufeff{"count":1}'))).status).toBe(200);
    expect((await send('{"count":1,"a":"ä"}', { type: 'application/json; charset=UTF-8' })).status).toBe(200);
  });

  test.each([
    ['{"name":"a\\ud800b"}', 'name'],
    ['{"options":{"deep":"\\uDFFF"}}', 'options.deep'],
    ['{"data":{"a":["x",{"k":"\\ud83d\\ud83d"}]}}', 'data.a.1.k'],
    ['{"data":{"\\udc00":1}}', 'data.\ufffd'],
    ['"\\ud800"', 'the body'],
  ])('refuses text that is not valid Unicode, naming the field: %s', async (text, field) => {
    const refused = await send(text);
    const sentence = `${field}: must be valid Unicode, and contains an unpaired surrogate`;
    expect([refused.status, await refused.json()]).toEqual([400, { errors: [sentence] }]);
    expect((await send('{"name":"\\ud83d\\ude00","count":1}')).status).toBe(200);
  });

  test('rounds a duration below one second up to 1, because 0 means no limit, and refuses more than 100 years', async () => {
    const { body } = await service.call('POST', '/things/a', { count: 1, ttl: '500ms' });
    expect(body.data.ttl).toBe(1);
    const tooLong = await service.call('POST', '/things/a', { count: 1, ttl: '900000h' });
    expect(tooLong.body.errors[0]).toContain('at most 100 years');
  });

  test('passes a wildcard to the handler as one string with its slashes', async () => {
    expect((await service.call('GET', '/deep/a/b%20c/d')).body.data).toBe('a/b c/d');
  });
});

describe('responses', () => {
  test('have the request ID of the caller in the envelope and in the header', async () => {
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

  test('have status 204 if there is nothing to report', async () => {
    expect((await service.call('DELETE', '/things/a')).status).toBe(204);
  });

  test('come from the list endpoint for a list, even if the path can also be read', async () => {
    expect((await service.call('LIST', '/things/a')).body.data).toBe('list');
    expect((await service.call('GET', '/things/a')).body.data).toBe('read');
  });

  test('have status 404 for an unknown path and 405 for an unsupported method', async () => {
    expect((await service.call('GET', '/nothing')).status).toBe(404);
    expect((await service.call('POST', '/deep/x', {})).status).toBe(405);
  });

  test('have the status, message and Retry-After of a problem', async () => {
    const { status, body, headers } = await service.call('GET', '/fail/problem');
    expect([status, body.errors, headers.get('retry-after')]).toEqual([429, ['full'], '7']);
  });

  test('of an outage say when to try again', async () => {
    const { status, body, headers } = await service.call('GET', '/fail/outage');
    expect([status, body.errors, headers.get('retry-after')]).toEqual([503, ['down'], '5']);
  });

  test('report to the gateway why a request was refused, and which token they contain', async () => {
    const headers = async (path: string) => (await service.call('GET', path)).headers;
    expect((await headers('/fail/problem')).get('x-audit-reason')).toBe('full');
    expect((await headers('/fail/crash')).get('x-audit-reason')).toMatch(/^internal%20error/);
    const issued = await headers('/issued');
    expect(issued.get('x-audit-issued-token')).toBe('t%C3%A4');
    expect(issued.get('x-audit-issued-accessor')).toBe('a');
    expect((await headers('/things/a')).has('x-audit-issued-token')).toBe(false);
  });

  test('hide the cause of an unexpected error, which is in the log with the request ID', async () => {
    const { status, body } = await service.call(
      'GET',
      '/fail/crash',
      undefined,
      testCaller({ requestId: 'r-2' }),
    );
    expect(status).toBe(500);
    expect(JSON.stringify(body)).not.toContain('canary');
    expect(logLines.join()).toMatch(/internal canary/);
    expect(logLines.join()).toContain('r-2');
  });
});

describe('a body', () => {
  const signed = '{"count":1}';

  test('is parsed only with a valid assertion', async () => {
    const response = await fetch(`${service.url}/v1/things/a`, { method: 'POST', body: '{"count":' });
    expect([response.status, await response.json()]).toEqual([
      403,
      { errors: ['the caller assertion is missing or invalid'] },
    ]);
  });

  test.each([
    ['another one', '{"count":2}'],
    ['one that is not JSON', '{"count":'],
    ['none', undefined],
  ])('is refused if %s was signed for', async (_what, body) => {
    expect((await send(body, { signed })).status).toBe(403);
  });

  test('is refused if none was signed, and an empty one is the same as none', async () => {
    expect((await send(signed, { signed: '' })).status).toBe(403);
    expect((await send('', { signed: '', method: 'DELETE' })).status).toBe(204);
    expect((await send(undefined, { signed: '', method: 'DELETE' })).status).toBe(204);
  });

  test('must not be compressed', async () => {
    expect((await send(signed, { encoding: 'gzip' })).status).toBe(415);
  });
});

describe('callers', () => {
  test('are believed only for the query that was signed', async () => {
    const line = { from: 'gateway', to: 'test', method: 'GET', path: '/v1/things/a' };
    const ask = async (query: string, signedQuery: string) => {
      const assertion = signAssertion(keys, { ...line, query: signedQuery }, testCaller());
      const headers = { [assertionHeader]: assertion };
      return (await fetch(`${service.url}/v1/things/a${query}`, { headers })).status;
    };
    expect(await ask('?a=1&b=%20', '?a=1&b=%20')).toBe(200);
    expect([await ask('?a=2', '?a=1'), await ask('', '?a=1'), await ask('?list=true', '')]).toEqual([
      403, 403, 403,
    ]);
  });

  test('without an assertion get 403', async () => {
    expect((await fetch(`${service.url}/v1/things/a`)).status).toBe(403);
  });

  test('reach an internal endpoint only from the service that it names', async () => {
    expect((await service.call('GET', '/internal')).status).toBe(403);
    expect((await service.call('GET', '/internal', undefined, testCaller(), 'sync-control')).body.data).toBe(
      'yes',
    );
  });
});

describe('the capability that a POST needs', () => {
  const creator = testCaller({ policies: ['p'], grants: ['create'] });
  const updater = testCaller({ policies: ['p'], grants: ['update'] });

  test('is update by default, and is checked before the request is parsed', async () => {
    for (const method of ['POST', 'PUT']) {
      const { status, body } = await service.call(method, '/things/a', {}, creator);
      expect([status, body.errors]).toEqual([403, ['permission denied']]);
      expect((await service.call(method, '/things/a', { count: 1 }, updater)).status).toBe(200);
    }
  });

  test('is left to the handler, or none, if the endpoint says so', async () => {
    const nobody = testCaller({ policies: [], grants: [] });
    expect((await service.call('POST', '/nulls', {}, creator)).status).toBe(200);
    expect((await service.call('POST', '/public', {}, nobody)).status).toBe(204);
  });

  test('is not checked again for a call of another service', async () => {
    expect((await service.call('POST', '/internal', {}, creator, 'sync-control')).status).toBe(204);
    expect((await service.call('POST', '/internal', {}, creator)).status).toBe(403);
  });
});

test('/readyz returns 503 with the names of unavailable dependencies', async () => {
  brokerIsUp = false;
  const unready = await fetch(`${service.url}/readyz`);
  expect([unready.status, await unready.json()]).toEqual([503, { ready: false, missing: ['broker'] }]);
  brokerIsUp = true;
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
});

test('/metrics responds', async () => {
  expect((await fetch(`${service.url}/metrics`)).status).toBe(200);
});

test('/openapi.json describes the public endpoints only', async () => {
  const described = (await (await fetch(`${service.url}/openapi.json`)).json()) as {
    paths: Record<string, object>;
  };
  expect(Object.keys(described.paths)).toContain('/v1/things/{name}');
  expect(Object.keys(described.paths)).not.toContain('/v1/internal');
});

test('a list is never served by a read endpoint', async () => {
  // A policy that grants `list` alone lets LIST through the gateway.
  expect((await service.call('LIST', '/deep/a/b')).status).toBe(405);
  expect((await service.call('GET', '/deep/a/b?list=1')).status).toBe(405);
  expect((await service.call('GET', '/deep/a/b')).body.data).toBe('a/b');
});

test('text that the database cannot store is a 400 and is not logged', async () => {
  const before = logLines.length;
  for (const query of ['code=22021', 'code=22P05', 'code=22P02&message=invalid+input+syntax+for+type+json']) {
    const { status, body } = await service.call('GET', `/fail/text?${query}`);
    expect([status, body.errors]).toEqual([400, ['the request contains a character that cannot be stored']]);
  }
  expect(logLines.length).toBe(before);
  expect((await service.call('GET', '/fail/text?code=22P02')).status).toBe(500);
});

test('a small request is served before the rest of the work on a large one', async () => {
  const served: string[] = [];
  const serve = endpointServer(
    [
      endpoint({
        method: 'post',
        path: '/sizes',
        summary: 'Write a value',
        body: z.unknown(),
        budget: 'secret',
        handle: async ({ body }) => {
          served.push(String((body as { name: unknown }).name));
          return undefined;
        },
      }),
    ],
    createLogger({ service: 'test', destination: { write: () => undefined } }),
  );
  const send = (body: object) =>
    serve({
      ...{ method: 'POST', path: '/v1/sizes', query: '' },
      authenticate: () => testCaller(),
      body: { contentType: undefined, read: async () => Buffer.from(JSON.stringify(body)) },
    });
  const large = send({ name: 'large', value: 'x'.repeat(10_000) });
  const small = send({ name: 'small' });
  await Promise.all([large, small]);
  expect(served).toEqual(['small', 'large']);
});
