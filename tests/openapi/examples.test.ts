import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { describeApi } from '../../scripts/console/describe-api.ts';
import { send } from '../harness/http.ts';
import { type Installation, startInstallation } from '../harness/installation.ts';
import { known, prepare, withFreshTokens } from './described-installation.ts';
import { isPlainRead, type OpenApiDocument, operationsOf, requestsOf } from './operations.ts';
import { type LearnedSchema, merged, permits, published, schemaOfValue } from './schema-of-value.ts';
import { stable } from './stable-values.ts';
import { validValues } from './values-of-schema.ts';
import type { Call } from './walkthrough/call.ts';
import { walkThrough } from './walkthrough/walkthrough.ts';

// After a change of requests or responses: UPDATE_EXAMPLES=1 npm test -- tests/openapi/examples
const isUpdate = process.env.UPDATE_EXAMPLES === '1';
const file = new URL('../../services/gateway/src/local/examples.json', import.meta.url);

/** The example of an operation in a walkthrough. */
interface Example {
  parameters?: Record<string, string>;
  request?: unknown;
  response?: unknown;
  /** The schemas of `data` and `auth` in the envelope, or of a response without it. */
  schemas?: Record<string, LearnedSchema>;
}

/** A request that was made, and its response. */
interface Made extends Omit<Example, 'schemas'> {
  operation: string;
}

let system: Installation;
let document: OpenApiDocument;
const made: Made[] = [];
let startedAt: number;

beforeAll(async () => {
  startedAt = Date.now();
  system = await startInstallation();
  document = (await system.api('GET', 'sys/internal/specs/openapi')).body;
  await removeGroups();
  await walkThrough(system, recording(system.rootToken), recording);
  await readTheRest(recording(system.rootToken));
  if (isUpdate) await learnMore();
}, 900_000);
afterAll(() => system?.stop());

/** Removes the groups of the sandbox: lists have them in the order of their IDs, which is another one each time. */
async function removeGroups(): Promise<void> {
  const { body } = await system.api('LIST', 'identity/group/name');
  for (const name of body.data.keys as string[]) await system.api('DELETE', `identity/group/name/${name}`);
}

/** Makes the requests that need nothing else, and for which the walkthrough has no step. */
async function readTheRest(call: Call): Promise<void> {
  const known = made.map(({ operation }) => operation);
  for (const operation of operationsOf(document).filter(isPlainRead))
    if (!known.includes(`GET ${operation.path}`)) await call(`GET ${operation.path.replace('/v1/', '')}`);
}

const recorded = () => JSON.parse(readFileSync(file, 'utf8')) as Record<string, Example>;

test('the document is also made without a running service, for the client of the console', async () => {
  expect(JSON.parse(JSON.stringify(await describeApi()))).toEqual(document);
});

test('the described responses are those of the service', () => {
  const examples = recorded();
  for (const [operation, { schemas = {} }] of learned())
    for (const [part, schema] of Object.entries(schemas))
      expect([operation, part, permits(examples[operation]?.schemas?.[part], schema)]).toEqual([
        operation,
        part,
        true,
      ]);
});

/** Operations that wait for workers or for the provider, and those whose limits would refuse the others. */
const skipped = /\/(?:check|set|remove|rotate-root|diagnose|sync\/events)$|\/quotas\//;

/** Learns from random requests, too, what else the fields of responses can be, and writes the file. */
async function learnMore(): Promise<void> {
  const api = withFreshTokens(system);
  for (const operation of operationsOf(document).filter(
    ({ verb, path }) => verb !== 'delete' && !skipped.test(path),
  )) {
    await prepare(system);
    const drawn = fc.sample(requestsOf(operation, { values: validValues, known }), { numRuns: 3, seed: 7 });
    for (const { operation: name, method, path, body } of drawn) {
      const { status, body: response } = await api(method, path, body);
      if (status === 200 && response !== undefined)
        made.push({ operation: name, response: masked(response) });
    }
  }
  await learnBare(recording(system.rootToken));
  const examples = learned().map(([operation, { schemas = {}, ...example }]) => {
    const parts = Object.entries(schemas).map(([part, schema]) => [part, published(schema)] as const);
    return [operation, { ...stable(example, startedAt), schemas: Object.fromEntries(parts) }] as const;
  });
  writeFileSync(file, `${JSON.stringify(Object.fromEntries(examples), undefined, 2)}\n`);
}

/** Learns which fields are absent or null where nothing was set that is optional. */
async function learnBare(call: Call): Promise<void> {
  const bare = { name: 'bare' };
  await call('POST identity/entity/name/{name}', bare, {});
  await call('GET identity/entity/name/{name}', bare);
  await call('POST identity/group/name/{name}', bare, { type: 'external' });
  await call('GET identity/group/name/{name}', bare);
  await call('POST sys/sync/destinations/cloudA-sm/{name}', bare, {});
  await call('PATCH sys/sync/destinations/cloudA-sm/{name}', bare, {});
  await call('GET sys/sync/destinations/{type}/{name}', { ...bare, type: 'cloudA-sm' });
  const { accessor } = (await call('GET auth/token/lookup-self')).data;
  await call('POST auth/token/lookup-accessor', {}, { accessor: accessor as string });
  for (const [kind, type] of [
    ['sys/mounts', 'kv'],
    ['sys/auth', 'cloudB'],
  ] as const) {
    const mounts = kind === 'sys/auth' ? 'sys/mounts/auth' : kind;
    const path = { path: bare.name };
    await call(`POST ${kind}/{path}`, path, { type });
    await call(`GET ${kind}`);
    await call(`GET ${kind}`, { list: 'true' });
    await call(`GET ${kind}/{path}`, path);
    await call(`GET ${kind}/{path}/tune`, path);
    await call(`GET ${mounts}/{path}`, path);
    await call(`GET ${mounts}/{path}/tune`, path);
    await call('GET sys/internal/ui/mounts');
    await call(`DELETE ${kind}/{path}`, path);
  }
  await call('POST identity/lookup/entity', {}, { name: 'unknown', colour: 'blue' });
}

function recording(token: string): Call {
  return async (operation, parameters = {}, body, headers = {}) => {
    const [method = '', template = ''] = operation.split(' ');
    const inQuery = new URLSearchParams(parameters);
    const path = template.replace(/\{(\w+)\}/g, (_, name: string) => {
      inQuery.delete(name);
      return encodeURIComponent(parameters[name] ?? '');
    });
    const query = inQuery.size === 0 ? '' : `?${inQuery}`;
    const { status, body: response } = await send(`${system.url}/v1/${path}${query}`, method, {
      headers: { 'x-service-token': token, ...headers },
      body,
    });
    if (status >= 300) throw new Error(`${operation}: ${status} ${JSON.stringify(response)}`);
    const shown = {
      ...(body !== undefined && { request: masked(body) }),
      ...(response && { response: masked(response) }),
    };
    made.push({ operation: `${method} /v1/${template}`, parameters, ...shown });
    return response;
  };
}

/** The first example of each operation, and the schemas of all its responses. */
function learned(): [string, Example][] {
  const byOperation = Map.groupBy(made, ({ operation }) => operation);
  return [...byOperation].map(([operation, all]) => {
    const { operation: _, parameters = {}, ...example } = all[0]!;
    if (operation === 'GET /v1/sys/internal/specs/openapi') return [operation, {}];
    const schemas = all.map(({ response }) => schemasOfResponse(operation, response)).reduce(mergedParts, {});
    return [operation, { parameters, ...example, schemas }];
  });
}

function mergedParts(one: Record<string, LearnedSchema>, other: Record<string, LearnedSchema>) {
  const parts = [...new Set([one, other].flatMap(Object.keys))];
  return Object.fromEntries(parts.map((part) => [part, merged(one[part] ?? {}, other[part] ?? {})]));
}

/** Operations whose `data` is a map, by names or paths. */
const mapped = [
  'GET /v1/sys/mounts',
  'GET /v1/sys/auth',
  'GET /v1/sys/audit',
  'POST /v1/sys/capabilities',
  'POST /v1/sys/capabilities-self',
  'POST /v1/sys/capabilities-accessor',
];

function schemasOfResponse(operation: string, response: unknown): Record<string, LearnedSchema> {
  if (response === undefined) return {};
  const { request_id, data, auth } = response as Record<string, unknown>;
  if (request_id === undefined) return { document: schemaOfValue(response) };
  return { data: schemaOfData(operation, data), auth: schemaOfValue(auth) };
}

/** The value of a secret may have any fields. */
function schemaOfData(operation: string, data: unknown): LearnedSchema {
  const schema = schemaOfValue(data, mapped.includes(operation));
  const isValue = operation === 'GET /v1/{mount}/data/{path}' && schema.properties?.data !== undefined;
  const value = { type: ['object', 'null'], additionalProperties: {} };
  return isValue ? { ...schema, properties: { ...schema.properties, data: value } } : schema;
}

const secretText = /^(sst_|sbt_|swt_).*|^-----BEGIN PRIVATE KEY-----.*/s;

/** Leaves out what looks like a credential, although it is one of an installation that no longer exists. */
const masked = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (name, field: unknown) => {
      if (typeof field !== 'string') return field;
      if (['jwt', 'client_secret', 'secret_access_key', 'access_key_id'].includes(name)) return '…';
      return field.replace(secretText, (text) => `${text.slice(0, text.startsWith('-') ? 27 : 4)}…`);
    }),
  );
