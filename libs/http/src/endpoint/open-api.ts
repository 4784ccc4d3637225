import { z } from 'zod';
import type { Endpoint } from './endpoint.ts';

/** The part of the OpenAPI 3.1 document that one service contributes, generated from the schemas that parse its requests. */
export function openApi(service: string, endpoints: readonly Endpoint[]) {
  const paths: Record<string, Record<string, Operation>> = {};
  for (const endpoint of endpoints.flatMap((endpoint) => endpoint.describedAs ?? [endpoint])) {
    if (endpoint.from !== undefined) continue; // internal, not part of the public API
    const path = templated(endpoint.path);
    const verb = endpoint.method === 'list' ? 'get' : endpoint.method;
    const described = operation(service, endpoint);
    const other = paths[path]?.[verb];
    paths[path] = { ...paths[path], [verb]: other === undefined ? described : both(other, described) };
  }
  return { openapi: '3.1.0', info: { title: service, version: '1' }, paths };
}

type Operation = ReturnType<typeof operation>;

/** Merges the descriptions of a path that is read by GET and listed by `GET …?list=true`: OpenAPI cannot distinguish them. */
function both(one: Operation, other: Operation): Operation {
  const parameters = new Map(
    [...one.parameters, ...other.parameters].map((parameter) => [parameter.name, parameter]),
  );
  return {
    ...one,
    summary: `${one.summary}; ${other.summary}`,
    parameters: [...parameters.values()].map((parameter) => ({
      ...parameter,
      required: parameter.in === 'path',
    })),
  };
}

/** Converts `/sys/mounts/*path` and `/x/:name` to OpenAPI's `{…}` form. */
const templated = (path: string): string => `/v1${path.replace(/[:*]([A-Za-z_]+)/g, '{$1}')}`;

function operation(service: string, endpoint: Endpoint) {
  const names = [...endpoint.path.matchAll(/[:*]([A-Za-z_]+)/g)].map((match) => match[1]!);
  return {
    tags: [service],
    summary: endpoint.summary,
    parameters: [
      ...names.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
      ...queryParameters(endpoint),
    ],
    ...(endpoint.body === undefined
      ? {}
      : { requestBody: { content: { 'application/json': { schema: schemaOf(endpoint.body) } } } }),
    responses: {
      '200': { description: 'success' },
      '400': { description: 'invalid input' },
      '403': { description: 'permission denied' },
    },
  };
}

function queryParameters(endpoint: Endpoint) {
  const listed =
    endpoint.method === 'list'
      ? [{ name: 'list', in: 'query', required: true, schema: { const: 'true' } }]
      : [];
  if (!(endpoint.query instanceof z.ZodObject)) return listed;
  const { properties = {} } = schemaOf(endpoint.query) as { properties?: Record<string, unknown> };
  return [
    ...listed,
    ...Object.entries(properties).map(([name, schema]) => ({ name, in: 'query', required: false, schema })),
  ];
}

const schemaOf = (schema: z.ZodType) =>
  z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', target: 'draft-2020-12' });
