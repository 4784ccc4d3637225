import { z } from 'zod';
import { type Endpoint, type EndpointDescription, eventStreamType } from '../endpoint.ts';
import { errorResponses, openApiComponents } from './open-api-components.ts';
import { segmentPattern, segmentsPattern } from './path-patterns.ts';

/** The part of the OpenAPI 3.1 document that one service contributes, generated from the schemas that parse its requests. */
export function openApi(service: string, endpoints: readonly Endpoint[]) {
  const paths: Record<string, Record<string, Operation>> = {};
  for (const endpoint of endpoints.flatMap(descriptionsOf)) {
    if (endpoint.from !== undefined) continue; // internal, not part of the public API
    const path = templated(endpoint.path);
    const verb = endpoint.method === 'list' ? 'get' : endpoint.method;
    const described = operation(service, endpoint);
    const other = paths[path]?.[verb];
    paths[path] = { ...paths[path], [verb]: other === undefined ? described : both(other, described) };
  }
  return { openapi: '3.1.0', info: { title: service, version: '1' }, paths, components: openApiComponents };
}

/** Returns the descriptions of an endpoint that are published to clients. */
const descriptionsOf = (endpoint: Endpoint): readonly EndpointDescription[] =>
  endpoint.describedAs ?? [endpoint];

type Operation = ReturnType<typeof operation>;

/**
 * Merges the descriptions of a path that OpenAPI cannot distinguish: it is read by GET and listed by `GET …?list=true`, or it is
 * below mounts of several types.
 */
function both(one: Operation, other: Operation): Operation {
  const parameters = new Map(
    [...one.parameters, ...other.parameters].map((parameter) => [parameter.name, parameter]),
  );
  return {
    ...one,
    ...bothBodies(one, other),
    summary: one.summary === other.summary ? one.summary : `${one.summary}; ${other.summary}`,
    parameters: [...parameters.values()].map((parameter) => ({
      ...parameter,
      required: parameter.in === 'path',
    })),
  };
}

/** A body with the fields of both, of which those are required that both require. */
function bothBodies(
  { requestBody: one }: Operation,
  { requestBody: other }: Operation,
): Pick<Operation, 'requestBody'> {
  if (one === undefined || other === undefined) return {};
  const [[type, { schema }]] = Object.entries(one.content) as [[string, { schema: ObjectSchema }]];
  const { schema: another } = Object.values(other.content)[0]!;
  const required = (schema.required ?? []).filter((name) => another.required?.includes(name));
  const { required: _, ...rest } = schema;
  const merged = {
    ...rest,
    properties: { ...another.properties, ...schema.properties },
    ...(required.length > 0 && { required }),
  };
  return { requestBody: { required: required.length > 0, content: { [type]: { schema: merged } } } };
}

/** Converts `/sys/mounts/*path` and `/x/:name` to OpenAPI's `{…}` form. */
const templated = (path: string): string => `/v1${path.replace(/[:*]([A-Za-z_]+)/g, '{$1}')}`;

const operation = (service: string, endpoint: EndpointDescription) => ({
  operationId: `${endpoint.method}${endpoint.path.replace(/[^A-Za-z0-9]+/g, '_')}`.replace(/_$/, ''),
  tags: [service],
  summary: endpoint.summary,
  parameters: [...pathParameters(endpoint), ...queryParameters(endpoint)],
  ...requestBody(endpoint),
  responses: responsesOf(endpoint),
});

function responsesOf(endpoint: EndpointDescription): Record<string, object> {
  const { responses } = endpoint;
  if (responses === undefined) return { ...successes(endpoint), ...errorResponses(endpoint) };
  return Object.fromEntries(
    Object.entries(responses).map(([status, description]) => [status, { description }]),
  );
}

const success = { $ref: '#/components/responses/Success' };

const events = {
  description: 'server-sent events',
  content: { [eventStreamType]: { schema: { type: 'string' } } },
};

const successes = ({ method, produces, isWait }: EndpointDescription) => {
  if (produces !== undefined) return { '200': events };
  if (isWait) return { '200': success, '202': success };
  return method === 'get' || method === 'list'
    ? { '200': success }
    : { '200': success, '204': { description: 'success, with nothing to report' } };
};

/** A schema of one parameter: what the endpoint says about it, within what a path can contain. */
function pathParameters({ path, params }: EndpointDescription) {
  const { properties = {} } = params === undefined ? {} : schemaOf(params);
  return [...path.matchAll(/([:*])([A-Za-z_]+)/g)].map(([, kind, name = '']) => {
    const pattern = kind === '*' ? segmentsPattern : segmentPattern;
    const schema = { type: 'string', minLength: 1, maxLength: 512, pattern, ...properties[name] };
    return { name, in: 'path', required: true, schema };
  });
}

function queryParameters({ method, query }: EndpointDescription) {
  const listed =
    method === 'list'
      ? [{ name: 'list', in: 'query', required: true, schema: { type: 'string', const: 'true' } }]
      : [];
  const { properties = {}, required = [] } = query === undefined ? {} : schemaOf(query);
  return [
    ...listed,
    ...Object.entries(properties).map(([name, schema]) => ({
      name,
      in: 'query',
      required: required.includes(name),
      schema,
    })),
  ];
}

function requestBody({ method, body }: EndpointDescription) {
  if (body === undefined) return {};
  const schema = schemaOf(body);
  const type = method === 'patch' ? 'application/merge-patch+json' : 'application/json';
  const required = (schema.required ?? []).length > 0;
  return { requestBody: { required, content: { [type]: { schema } } } };
}

/** Removes the derived properties of a field that its own `meta` contradicts or replaces. */
function preferMeta(described: Record<string, unknown>, meta: Record<string, unknown> = {}): void {
  if (meta.type !== undefined && meta.anyOf === undefined) delete described.anyOf;
  if (meta.type === undefined && meta.anyOf !== undefined && meta.properties === undefined) {
    const isObject = described.properties !== undefined;
    if (!isObject) for (const keyword of ['type', 'items']) delete described[keyword];
  }
}

interface ObjectSchema {
  properties?: Record<string, object>;
  required?: string[];
}

function schemaOf(schema: z.ZodType): ObjectSchema {
  const { $schema: _, ...described } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    target: 'draft-2020-12',
    override: ({ zodSchema, jsonSchema }) => preferMeta(jsonSchema, z.globalRegistry.get(zodSchema)),
  });
  return described as ObjectSchema;
}
