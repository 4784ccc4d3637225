import { isUtf8 } from 'node:buffer';
import { assertionHeader, type Caller, type InternalKeys, verifyAssertion } from '@secrets/caller';
import { Problem } from '@secrets/domain';
import express, { type Request as ExpressRequest, type Response, Router } from 'express';
import type { Endpoint, Method, Request } from './endpoint.ts';
import { envelope } from './envelope.ts';
import { inexactNumber } from './exact-numbers.ts';
import { parseBody, parseInput, unknownFieldWarnings } from './parse-input.ts';
import { byPrecedence } from './path-precedence.ts';

export interface EndpointRouterOptions {
  /** This service's name: the audience that assertions must name. */
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

/** Maximum size of a request body in bytes; a larger one is a 413 (docs/conventions.md#13-errors). */
export const maxBodyBytes = 1_048_576;

/** Serves the endpoints of a service below `/v1`, in any order. A path that exists with another verb answers 405, others 404. */
export function endpointRouter(endpoints: readonly Endpoint[], options: EndpointRouterOptions): Router {
  const router = Router({ caseSensitive: true, strict: false });
  router.use(jsonBody());
  const [forAnyPath, forOwnPath] = [endpoints.filter(takesAnyPath), endpoints.filter(isOfItsOwnPath)];
  // The 405 of a declared path comes before an endpoint that takes every path.
  for (const some of [forOwnPath, forAnyPath]) {
    for (const endpoint of inOrder(some)) mount(router, endpoint, options);
    for (const path of new Set(some.map((endpoint) => endpoint.path))) refuseOthers(router, path, some);
  }
  return router;
}

const takesAnyPath = ({ path }: Endpoint): boolean => /^\/\*\w+$/.test(path);
const isOfItsOwnPath = (endpoint: Endpoint): boolean => !takesAnyPath(endpoint);
const inOrder = (endpoints: readonly Endpoint[]): Endpoint[] =>
  [...endpoints].sort(
    (a, b) => byPrecedence(a.path, b.path) || Number(b.method === 'list') - Number(a.method === 'list'),
  );

function mount(router: Router, endpoint: Endpoint, options: EndpointRouterOptions): void {
  for (const verb of verbs[endpoint.method]) {
    router[verb](`/v1${endpoint.path}`, async (request, response, next) => {
      // A policy may grant `list` and not `read`: what was judged as one is never answered as the other.
      if (verb === 'get' && (endpoint.method === 'list') !== asksForList(request)) return next();
      await serve(endpoint, options, request, response);
    });
  }
}

function refuseOthers(router: Router, path: string, endpoints: readonly Endpoint[]): void {
  const methods = endpoints.filter((endpoint) => endpoint.path === path).map(({ method }) => method);
  router.all(`/v1${path}`, () => {
    throw methodNotTaken(methods);
  });
}

/** The refusal of a verb where a path takes only these methods. */
export function methodNotTaken(methods: readonly Method[]): Problem {
  const taken = methods.flatMap((method): readonly string[] =>
    method === 'list' ? ['list'] : verbs[method],
  );
  const allowed = [...new Set(taken)].map((verb) => verb.toUpperCase());
  return new Problem('method_not_allowed', 'this path does not take that method', { allowed });
}

async function serve(
  endpoint: Endpoint,
  { service, keys }: EndpointRouterOptions,
  request: ExpressRequest,
  response: Response,
) {
  const from = endpoint.from ?? 'gateway';
  const asserted = { from, to: service, method: request.method, path: request.path };
  const caller = verifyAssertion(keys, request.get(assertionHeader), asserted);
  response.locals.requestId = caller.requestId;
  const { warnings, ...input } = parse(endpoint, request, caller);
  const reply = await endpoint.handle(input as unknown as Request<never, never, never>);
  sendReply(response, caller.requestId, reply, warnings);
}

function parse(endpoint: Endpoint, request: ExpressRequest, caller: Caller) {
  const warnings = unknownFieldWarnings(endpoint.body, request.body);
  return {
    params: parseInput(endpoint.params, joined(request.params)),
    query: parseInput(endpoint.query, request.query),
    body: parseBody(endpoint.method, endpoint.body, request.body),
    caller,
    warn: (sentence: string) => void warnings.push(sentence),
    warnings,
  };
}

/** Express gives a wildcard (`*path`) as its segments; here it is one string again. */
const joined = (params: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(params).map(([name, value]) => [name, Array.isArray(value) ? value.join('/') : value]),
  );

const asksForList = (request: ExpressRequest): boolean =>
  request.query.list === 'true' || request.query.list === '1';

function sendReply(
  response: Response,
  requestId: string,
  reply: { status?: number } | undefined,
  warnings: string[],
) {
  response.set('x-request-id', requestId);
  if (reply === undefined && warnings.length === 0) return void response.status(204).end();
  const all = {
    ...reply,
    warnings: [...((reply as { warnings?: string[] } | undefined)?.warnings ?? []), ...warnings],
  };
  response.status(reply?.status ?? 200).json(envelope(requestId, all));
}

const jsonTypes = ['application/json', 'application/merge-patch+json'];
/** What curl sends for `-d` unless told otherwise; taken as JSON. */
const curlDefault = 'application/x-www-form-urlencoded';

function jsonBody(): express.RequestHandler {
  const parseJson = express.json({
    limit: maxBodyBytes,
    strict: false,
    type: () => true,
    verify: (_request, _response, body, charset) => refuseChanged(body, charset),
  });
  return (request, response, next) => {
    const hasBody =
      request.headers['transfer-encoding'] !== undefined ||
      Number(request.headers['content-length'] ?? 0) > 0;
    if (!hasBody) return next();
    const type = (request.headers['content-type'] ?? jsonTypes[0]!).split(';')[0]!.trim().toLowerCase();
    const accepted = jsonTypes.includes(type) || type === curlDefault;
    if (!accepted) return next(new Problem('unsupported_media_type', 'the body must be application/json'));
    parseJson(request, response, next);
  };
}

/** Refuses a body that would be read as something else than was sent. */
function refuseChanged(body: Buffer, charset: string): void {
  if (charset !== 'utf-8') throw new Problem('unsupported_media_type', 'the body must be UTF-8 JSON');
  if (!isUtf8(body)) throw new Problem('invalid', 'the body is not valid UTF-8');
  const name = inexactNumber(body);
  if (name !== undefined)
    throw new Problem('invalid', `${name}: the number has more digits than can be kept; send it as a string`);
}
