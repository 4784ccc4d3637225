import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import fc from 'fast-check';
import { type Api, expectStatus } from '../harness/http.ts';
import { type Installation, startInstallation } from '../harness/installation.ts';
import { type JsonSchema, valuesOf } from './values-of-schema.ts';

// More with: REQUESTS=20000 npm test -- openapi
const requests = Number(process.env.REQUESTS ?? 1_500);

interface Operation {
  parameters?: { name: string; in: 'path' | 'query'; required?: boolean; schema: JsonSchema }[];
  requestBody?: { content: { 'application/json': { schema: JsonSchema } } };
}

interface Document {
  paths: Record<string, Record<string, Operation>>;
}

let system: Installation;
let document: Document;

beforeAll(async () => {
  system = await startInstallation();
  document = (await system.api('GET', 'sys/internal/specs/openapi')).body;
  // Something for the requests to find.
  const { api, sandbox } = system;
  expectStatus(await api('POST', 'sys/mounts/kv', { type: 'kv', options: { version: '2' } }), 204);
  expectStatus(await api('POST', 'kv/data/s', { data: { a: '1' } }), 200);
  const destination = { ...(await sandbox.credentials()), region: 'eu-west-1' };
  expectStatus(await api('POST', 'sys/sync/destinations/cloudA-sm/d', destination), 200);
  expectStatus(await api('POST', 'sys/auth/cloudB', { type: 'cloudB' }), 204);
});
afterAll(() => system?.stop());

test('the OpenAPI document is valid', async () => {
  expect(await new Validator().validate(document as never)).toEqual({ valid: true });
});

test('no request drawn from the document causes a 5xx, or an error without sentences', async () => {
  const operations = Object.entries(document.paths).flatMap(([path, verbs]) =>
    Object.entries(verbs).map(([verb, operation]) => ({ verb, path, operation })),
  );
  const api = withFreshTokens(system.api);
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...operations).chain(requestsOf), async ([method, path, body]) => {
      const answer = await api(method, path, body);
      expect(answer.status).toBeLessThan(500);
      if (answer.status >= 400) expect(answer.body).toEqual({ errors: expect.any(Array) });
    }),
    { numRuns: requests, endOnFailure: true },
  );
});

type Request = [method: string, path: string, body: unknown];

/** Requests of one operation: any values in place of its parameters, any body that its schema permits, and some that it does not. */
function requestsOf({
  verb,
  path,
  operation,
}: {
  verb: string;
  path: string;
  operation: Operation;
}): fc.Arbitrary<Request> {
  const parameters = operation.parameters ?? [];
  const values = fc.record(
    Object.fromEntries(parameters.map(({ name, schema }) => [name, valuesOf(schema)])),
  );
  const schema = operation.requestBody?.content['application/json'].schema;
  return fc
    .tuple(values, schema === undefined ? fc.constant(undefined) : valuesOf(schema))
    .map(([given, body]) => {
      const filled = path
        .replace('/v1/', '')
        .replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(textOf(given[name])) || 'x');
      const query = parameters
        .filter((parameter) => parameter.in === 'query')
        .map(({ name }) => `${name}=${encodeURIComponent(textOf(given[name]))}`);
      return [verb.toUpperCase(), query.length === 0 ? filled : `${filled}?${query.join('&')}`, body];
    });
}

const textOf = (value: unknown): string =>
  (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).toWellFormed();

/** Requests may revoke the token that they use, or delete what it depends on: then another one is created. */
function withFreshTokens(root: Api): Api {
  const fresh = async () => {
    const { body } = expectStatus(
      await root('POST', 'auth/token/create', { policies: ['root'], no_parent: true }),
      200,
    );
    return system.as(body.auth.client_token);
  };
  let api: Promise<Api> = fresh();
  return async (...request) => {
    const answer = await (await api)(...request);
    if (answer.status === 403) api = fresh();
    return answer;
  };
}
