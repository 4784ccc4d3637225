import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import {
  type AccessRequest,
  type AddressRanges,
  decodePath,
  encodePath,
  type Operation,
} from '@secrets/access';
import { invalid, Problem } from '@secrets/domain';
import { operationOf } from '@secrets/http';
import { clientAddress } from './client-address.ts';
import { extractList } from './list-query.ts';

/** A parsed request: what authorization evaluates, and what is forwarded. */
export interface GatewayRequest extends AccessRequest {
  /** Method of the forwarded request. */
  method: string;
  /** Path of the forwarded request, without the query: an encoding of exactly the path that was authorized. */
  forwardPath: string;
  /** Query of the forwarded request, with `?`; may be empty. */
  forwardQuery: string;
}

/** The operation of each supported method. */
export const operations: Readonly<Record<string, Operation>> = {
  GET: 'read',
  HEAD: 'read',
  LIST: 'list',
  POST: 'create-or-update',
  PUT: 'create-or-update',
  PATCH: 'patch',
  DELETE: 'delete',
};
/**
 * The path of the health, without the prefix `/v1/`. It needs no authorization, has no audit lines, and works while the
 * database does not.
 */
export const healthPath = 'sys/health';

/** The prefix of every public path. */
export const pathPrefix = '/v1/';

/**
 * Parses the request line and the headers. Throws a problem for an unsupported method, and for a path or query that is
 * ambiguous.
 */
export function toGatewayRequest(
  request: IncomingMessage,
  requestId: string,
  remoteAddress: string,
): GatewayRequest {
  requireOneHost(request);
  const verb = operationOf(request);
  const operation = operations[verb];
  if (operation === undefined) throw unsupportedMethod();
  const { path, query } = splitUrl(request.url ?? '');
  const { isList, rest } = verb === 'GET' || verb === 'LIST' ? extractList(query) : noList(query);
  if (verb === 'HEAD' && path !== healthPath) throw unsupportedMethod();
  const listed = operation === 'list' || isList;
  const { headers } = request;
  return {
    operation: listed ? 'list' : operation,
    path,
    token: tokenOf(request),
    namespace: oneOf(headers['x-service-namespace'], headers['x-vault-namespace'], 'Namespace'),
    remoteAddress,
    requestId,
    method: verb === 'LIST' ? 'GET' : verb,
    forwardPath: pathPrefix + encodePath(path),
    forwardQuery: queryText(listed, rest),
  };
}

/** RFC 9112, section 3.2: with several, this service and a proxy before it could each believe another one. */
function requireOneHost({ rawHeaders, httpVersion }: IncomingMessage): void {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) if (isHost.test(rawHeaders[at]!)) hosts += 1;
  if (hosts > 1) throw invalid('there are several Host headers');
  if (hosts === 0 && httpVersion === '1.1') throw invalid('the Host header is missing');
}

const isHost = /^host$/i;
/** The same request with the path that was authorized. */
export const withPath = (request: GatewayRequest, path: string): GatewayRequest =>
  path === request.path ? request : { ...request, path, forwardPath: pathPrefix + encodePath(path) };

const allowed = Object.keys(operations).filter((verb) => verb !== 'HEAD');
const unsupportedMethod = () => new Problem('method_not_allowed', 'unsupported method', { allowed });

/** The request id that the client sent, if its format is valid; otherwise a new one. */
export function requestIdOf(request: IncomingMessage): string {
  const given = single(request.headers['x-request-id']);
  return given !== undefined && /^[A-Za-z0-9._-]{1,128}$/.test(given) ? given : randomUUID();
}

export const addressOf = (request: IncomingMessage, trusted: AddressRanges): string =>
  clientAddress(request.socket.remoteAddress ?? '', single(request.headers['x-forwarded-for']), trusted);

/** The path of a request as received, for the audit lines of a request that cannot be parsed. */
export const rawPath = (request: IncomingMessage): string => (request.url ?? '').split('?', 1)[0]!;

/** Requests have a handful. */
const maxParameters = 100;

function splitUrl(url: string): { path: string; query: string } {
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  const query = mark < 0 ? '' : url.slice(mark + 1);
  if (!path.startsWith(pathPrefix)) throw new Problem('not_found', 'no such path');
  if (path.includes('#') || !/^[\x21\x22\x24-\x7e]*$/.test(query))
    throw invalid('path and query must be percent-encoded');
  if (query.split('&', maxParameters + 1).length > maxParameters)
    throw invalid(`the query has more than ${maxParameters} parameters`);
  return { path: decodePath(path.slice(pathPrefix.length)), query };
}

const noList = (rest: string) => ({ isList: false, rest });

function queryText(listed: boolean, rest: string): string {
  if (listed) return rest === '' ? '?list=true' : `?list=true&${rest}`;
  return rest === '' ? '' : `?${rest}`;
}

/** An empty header is none: some clients send it beside another one. */
const tokenOf = ({ headers }: IncomingMessage): string | undefined =>
  oneOf(headers['x-service-token'] || undefined, headers['x-vault-token'] || undefined, 'Token') ??
  /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];

/**
 * The value of a header that has two names (docs/conventions/http.md#headers). Throws `invalid` if both are present and
 * differ.
 */
function oneOf(own: Header, other: Header, name: 'Namespace' | 'Token'): string | undefined {
  const value = single(own ?? other);
  if (own !== undefined && other !== undefined && value !== single(other))
    throw invalid(`X-Service-${name} and X-Vault-${name} have different values`);
  return value;
}

type Header = string | string[] | undefined;

const single = (header: Header): string | undefined => (Array.isArray(header) ? header.join(',') : header);
