import {
  assertionHeader,
  type Caller,
  callerToken,
  callerTokenHeader,
  type InternalKeys,
  requireSignedBody,
  type VerifiedAssertion,
  verifyAssertion,
} from '@secrets/caller';
import { Problem } from '@secrets/domain';
import { type Span, traced } from '@secrets/telemetry';
import express, { type Request as ExpressRequest, type Response, Router } from 'express';
import { httpStatus } from '../problem/problem-status.ts';
import { issuedHeaders } from './audit-headers.ts';
import { type Endpoint, eventStreamType, type Method, type Request } from './endpoint.ts';
import { envelope, type Reply, restoredEnvelope } from './envelope.ts';
import { parseJsonBody, requireJsonType } from './input/json-body.ts';
import { parseInput, parseLeniently, unknownFieldWarnings } from './input/parse-input.ts';
import { byPrecedence } from './path-precedence.ts';
import { splitTarget } from './request-target.ts';
import { requireNeeded } from './required-capability.ts';

export interface EndpointRouterOptions {
  /** The name of this service: the required audience of assertions. */
  service: string;
  keys: InternalKeys;
}

const verbs: Record<Method, readonly ('get' | 'post' | 'put' | 'patch' | 'delete')[]> = {
  get: ['get'],
  list: ['get'],
  post: ['post', 'put'],
  patch: ['patch'],
  delete: ['delete'],
};

/** Maximum size of a request body in bytes; a larger one gets 413 (docs/conventions.md#13-errors). */
export const maxBodyBytes = 1_048_576;

/** Serves the endpoints of a service below `/v1`. Their order does not matter. A path that exists with other verbs gets 405, an unknown one 404. */
export function endpointRouter(endpoints: readonly Endpoint[], options: EndpointRouterOptions): Router {
  const router = Router({ caseSensitive: true, strict: false });
  const catchAll = endpoints.filter(matchesEveryPath);
  const specific = endpoints.filter((endpoint) => !matchesEveryPath(endpoint));
  // The 405 of a declared path precedes an endpoint that matches every path.
  for (const group of [specific, catchAll]) {
    for (const endpoint of inOrder(group)) mount(router, endpoint, options);
    for (const path of new Set(group.map((endpoint) => endpoint.path))) refuseOthers(router, path, group);
  }
  return router;
}

const matchesEveryPath = ({ path }: Endpoint): boolean => /^\/\*\w+$/.test(path);
const inOrder = (endpoints: readonly Endpoint[]): Endpoint[] =>
  [...endpoints].sort(
    (a, b) => byPrecedence(a.path, b.path) || Number(b.method === 'list') - Number(a.method === 'list'),
  );

function mount(router: Router, endpoint: Endpoint, options: EndpointRouterOptions): void {
  for (const verb of verbs[endpoint.method]) {
    router[verb](`/v1${endpoint.path}`, async (request, response, next) => {
      // A policy may grant `list` without `read`: a request authorised as one is never served as the other.
      if (verb === 'get' && (endpoint.method === 'list') !== isList(request)) return next();
      const span = () => ({
        name: `${request.method} ${endpoint.path}`,
        kind: 'server' as const,
        parent: request.get('traceparent'),
      });
      await traced(span, (span) => serveIn(span, endpoint, options, request, response));
    });
  }
}

function refuseOthers(router: Router, path: string, endpoints: readonly Endpoint[]): void {
  const methods = endpoints.filter((endpoint) => endpoint.path === path).map(({ method }) => method);
  router.all(`/v1${path}`, () => {
    throw methodNotTaken(methods);
  });
}

/** The problem of an unsupported verb on a path with these methods. */
export function methodNotTaken(methods: readonly Method[]): Problem {
  const supported = methods.flatMap((method): readonly string[] =>
    method === 'list' ? ['list'] : verbs[method],
  );
  const allowed = [...new Set(supported)].map((verb) => verb.toUpperCase());
  return new Problem('method_not_allowed', 'this path does not support that method', { allowed });
}

/** Serves a request, and says in its span what became of it. */
async function serveIn(span: Span | undefined, ...served: Parameters<typeof serve>): Promise<void> {
  if (span === undefined) return serve(...served);
  const response = served[3];
  try {
    await serve(...served);
    span.set({ 'http.response.status_code': response.statusCode });
  } catch (error) {
    const status = error instanceof Problem ? httpStatus[error.kind] : 500;
    span.set({ 'http.response.status_code': status });
    if (status >= 500) span.fail(error instanceof Problem ? error.kind : 'internal');
    throw error;
  } finally {
    span.set({ request_id: response.locals.requestId ?? '' });
  }
}

async function serve(
  endpoint: Endpoint,
  { service, keys }: EndpointRouterOptions,
  request: ExpressRequest,
  response: Response,
) {
  const from = endpoint.from ?? 'gateway';
  const asserted = { from, to: service, method: request.method, ...splitTarget(request.url) };
  const assertion = verifyAssertion(keys, request.get(assertionHeader), asserted);
  const { caller } = assertion;
  response.locals.requestId = caller.requestId;
  requireNeeded(endpoint, caller);
  await readJson(request, response, assertion);
  const { warnings, ...input } = parse(endpoint, request, caller);
  const reply = await endpoint.handle(input as unknown as Request<never, never, never>);
  sendReply(response, caller.requestId, reply, warnings);
}

function parse(endpoint: Endpoint, request: ExpressRequest, caller: Caller) {
  const warnings = unknownFieldWarnings(endpoint.body, request.body);
  return {
    params: parseInput(endpoint.params, joined(request.params)),
    query: parseLeniently(endpoint.query, request.query),
    body: parseLeniently(endpoint.body, request.body),
    caller,
    callerToken: callerToken(request.get(callerTokenHeader)),
    warn: (sentence: string) => void warnings.push(sentence),
    warnings,
  };
}

/** Express splits a wildcard (`*path`) into segments; handlers get one string. */
const joined = (params: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(params).map(([name, value]) => [name, Array.isArray(value) ? value.join('/') : value]),
  );

const isList = (request: ExpressRequest): boolean =>
  request.query.list === 'true' || request.query.list === '1';

function sendReply(
  response: Response,
  requestId: string,
  reply: Pick<Reply, 'status' | 'document' | 'auth' | 'wrapInfo' | 'stored' | 'eventStream'> | undefined,
  warnings: string[],
) {
  response.set('x-request-id', requestId);
  for (const [name, value] of issuedHeaders(reply)) response.set(name, value);
  if (reply?.eventStream !== undefined) {
    response.writeHead(200, { 'content-type': eventStreamType, 'cache-control': 'no-store' });
    return reply.eventStream(response);
  }
  if (reply?.document !== undefined) {
    const { content, maxAgeSeconds } = reply.document;
    return void response.set('cache-control', `public, max-age=${maxAgeSeconds}`).json(content);
  }
  if (reply?.stored !== undefined)
    return void response.type('json').send(restoredEnvelope(requestId, reply.stored));
  if (reply === undefined && warnings.length === 0) return void response.status(204).end();
  const all = {
    ...reply,
    warnings: [...((reply as { warnings?: string[] } | undefined)?.warnings ?? []), ...warnings],
  };
  response.status(reply?.status ?? 200).json(envelope(requestId, all));
}

const readBytes = express.raw({ limit: maxBodyBytes, inflate: false, type: () => true });

/** Reads and parses the body, if it is the one that was signed. Nobody else reaches the parser. */
async function readJson(
  request: ExpressRequest,
  response: Response,
  assertion: VerifiedAssertion,
): Promise<void> {
  const hasBody =
    request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
  if (!hasBody) return requireSignedBody(assertion, undefined);
  requireJsonType(request.headers['content-type']);
  await new Promise<void>((resolve, reject) => {
    readBytes(request, response, (error?: unknown) => (error === undefined ? resolve() : reject(error)));
  });
  const bytes = request.body as Buffer;
  requireSignedBody(assertion, bytes);
  request.body = parseJsonBody(bytes);
}
