import type { EndpointDescription } from '../endpoint.ts';

const errorStatuses = {
  '400': 'invalid input; each sentence names the field',
  '403': 'no token, an invalid one, or an operation that its policies do not allow',
  '404': 'no such object, version, mount or path, or an empty list; a deleted version with its metadata',
  '405': 'the path does not support the verb; `Allow` lists those that it supports',
  '409': 'the request conflicts with the current state of an object',
  '413': 'the body, or what it would make of a secret, exceeds 1 MiB',
  '415': 'the body is not JSON in UTF-8, or is compressed',
  '429': 'a limit is reached or a queue is full; `Retry-After` states when to try again',
  '500': 'an unexpected failure; the log has its cause under `request_id`',
  '502': 'another system returned something unusable',
  '503': 'a component is unavailable, or another operation is changing the same object',
} as const;

type ErrorStatus = keyof typeof errorStatuses;

const json = (schema: object) => ({ 'application/json': { schema } });

const errorsSchema = {
  type: 'object',
  required: ['errors'],
  properties: {
    errors: { type: 'array', items: { type: 'string' } },
    request_id: { type: 'string', description: 'with status 500' },
  },
};

const text = { type: 'string' };

/** docs/conventions/http.md#envelope */
const envelopeSchema = {
  type: 'object',
  required: [
    'request_id',
    'lease_id',
    'lease_duration',
    'renewable',
    'data',
    'wrap_info',
    'warnings',
    'auth',
  ],
  properties: {
    request_id: text,
    lease_id: text,
    lease_duration: { type: 'integer' },
    renewable: { type: 'boolean' },
    data: { type: ['object', 'null'] },
    wrap_info: { type: ['object', 'null'] },
    warnings: { type: ['array', 'null'], items: text },
    auth: { type: ['object', 'null'] },
    mount_type: text,
  },
};

const errors = { $ref: '#/components/schemas/Errors' };
/** A deleted version of a secret is a 404 with its metadata. */
const errorsOrEnvelope = { anyOf: [errors, { $ref: '#/components/schemas/Envelope' }] };

/** Schemas and responses that the operations refer to. */
export const openApiComponents = {
  schemas: { Errors: errorsSchema, Envelope: envelopeSchema },
  responses: {
    Success: { description: 'success', content: json({ $ref: '#/components/schemas/Envelope' }) },
    ...Object.fromEntries(
      Object.entries(errorStatuses).map(([status, description]) => [
        `Error${status}`,
        { description, content: json(status === '404' ? errorsOrEnvelope : errors) },
      ]),
    ),
  },
};

const always: readonly ErrorStatus[] = ['400', '403', '404', '405', '429', '500', '503'];

/** The errors that an endpoint can return (docs/conventions/http.md#errors). */
export function errorResponses({
  method,
  path,
  body,
  asksOutside = false,
  isWait = false,
}: EndpointDescription): Record<string, { $ref: string }> {
  const isRead = method === 'get' || method === 'list';
  const statuses: ErrorStatus[] = [
    ...always,
    ...(isRead && !asksOutside && !isWait ? [] : (['409'] as const)),
    ...(isRead ? [] : (['413', '415'] as const)),
    ...(asksOutside || body !== undefined || path.startsWith('/auth/*mount') ? (['502'] as const) : []),
  ];
  const entries = statuses.sort().map((status) => [status, reference(`Error${status}`)] as const);
  return Object.fromEntries(entries);
}

const reference = (response: string) => ({ $ref: `#/components/responses/${response}` });
