import fc from 'fast-check';
import type { JsonSchema } from './values-of-schema.ts';

/** The parts of an OpenAPI document that requests are made from. */
export interface OpenApiDocument {
  paths: Record<string, Record<string, OpenApiOperation>>;
}

interface OpenApiOperation {
  operationId?: string;
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Record<string, { schema: JsonSchema }> };
  responses: Record<string, unknown>;
}

interface Parameter {
  name: string;
  in: 'path' | 'query';
  required?: boolean;
  schema: JsonSchema;
}

/** An operation with its place in the document. */
export interface Operation extends OpenApiOperation {
  verb: string;
  path: string;
}

export const operationsOf = ({ paths }: OpenApiDocument): Operation[] =>
  Object.entries(paths).flatMap(([path, verbs]) =>
    Object.entries(verbs).map(([verb, operation]) => ({ ...operation, verb, path })),
  );

/** The operations of a document, such as `GET /v1/sys/health`. */
export const namesOf = (
  document: OpenApiDocument,
  isWanted: (operation: Operation) => boolean = () => true,
): string[] =>
  operationsOf(document)
    .filter(isWanted)
    .map(({ verb, path }) => `${verb.toUpperCase()} ${path}`);

/** A request that needs no parameters and nothing to exist, such as that for `sys/init`. */
export const isPlainRead = ({ verb, path, parameters = [] }: Operation): boolean =>
  verb === 'get' &&
  !withoutSuccess.includes(`GET ${path}`) &&
  !path.includes('{') &&
  parameters.every(({ required }) => !required);

/** A rotation is refused within eleven minutes after the issuer was configured, and a stream of events does not end. */
export const withoutSuccess = [
  'POST /v1/identity/oidc/rotate',
  'GET /v1/sys/sync/events',
  'GET /v1/sys/events/subscribe/{type}',
];

/** A stream does not end. */
export const isStream = ({ responses }: Operation): boolean =>
  JSON.stringify(responses).includes('text/event-stream');

/** Random rate limits would refuse all other requests. */
export const limitsOthers = ({ verb, path }: Operation): boolean =>
  verb === 'post' && path.startsWith('/v1/sys/quotas/');

export interface DrawnRequest {
  operation: string;
  method: string;
  /** Below `/v1/`, with its query. */
  path: string;
  body: unknown;
}

/** Where the values of requests come from. */
export interface Drawing {
  values(schema: JsonSchema): fc.Arbitrary<unknown>;
  /** Existing values of a parameter in a path; they are drawn more often than others. */
  known(path: string, name: string): readonly string[];
}

/** Requests of one operation. */
export function requestsOf(operation: Operation, drawing: Drawing): fc.Arbitrary<DrawnRequest> {
  const { parameters = [], requestBody, verb, path } = operation;
  const inPath = parameters.filter((parameter) => parameter.in === 'path');
  const inQuery = parameters.filter((parameter) => parameter.in === 'query');
  const body = Object.values(requestBody?.content ?? {})[0]?.schema;
  return fc
    .tuple(
      recordOf(inPath, ({ name, schema }) => pathValues(drawing.known(path, name), drawing.values(schema))),
      recordOf(inQuery, ({ schema }) => drawing.values(schema)),
      body === undefined ? fc.constant(undefined) : drawing.values(body),
    )
    .map(([segments, query, given]) => ({
      operation: `${verb.toUpperCase()} ${path}`,
      method: verb.toUpperCase(),
      path: filled(path, segments) + queryText(query),
      body: given,
    }));
}

function recordOf(parameters: readonly Parameter[], valuesOf: (one: Parameter) => fc.Arbitrary<unknown>) {
  const entries = parameters.map((parameter) => [parameter.name, valuesOf(parameter)] as const);
  const requiredKeys = parameters.filter(({ required }) => required).map(({ name }) => name);
  return fc.record(Object.fromEntries(entries), { requiredKeys }) as fc.Arbitrary<Record<string, unknown>>;
}

function pathValues(existing: readonly string[], drawn: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  if (existing.length === 0) return drawn;
  return fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...existing) }, { weight: 2, arbitrary: drawn });
}

const filled = (path: string, given: Record<string, unknown>): string =>
  path.replace('/v1/', '').replace(/\{(\w+)\}/g, (_, name: string) => encoded(given[name]) || 'x');

const queryText = (given: Record<string, unknown>): string => {
  const pairs = Object.entries(given).map(([name, value]) => `${name}=${encoded(value)}`);
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
};

const encoded = (value: unknown): string =>
  encodeURIComponent((typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).toWellFormed());
