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
import { healthPath } from './health.ts';
import { extractList } from './list-query.ts';

/** A request as it is judged, and as it would be forwarded. */
export interface GatewayRequest extends AccessRequest {
  /** Verb towards the service. */
  method: string;
  /** Path towards the service, without the query: an encoding of exactly the path that is judged. */
  forwardPath: string;
  /** With `?`, or empty. */
  forwardQuery: string;
}

const operations: Record<string, Operation> = {
  GET: 'read',
  HEAD: 'read',
  LIST: 'list',
  POST: 'create-or-update',
  PUT: 'create-or-update',
  PATCH: 'patch',
  DELETE: 'delete',
};
const base = '/v1/';

/** Reads line and headers of a request. Throws a problem for a path, verb or query that cannot be understood in one way only. */
export function toGatewayRequest(
  request: IncomingMessage,
  requestId: string,
  remoteAddress: string,
): GatewayRequest {
  if (request.headers.host === undefined && request.httpVersion === '1.1')
    throw invalid('the Host header is missing'); // RFC 9112, section 3.2
  const verb = operationOf(request);
  const operation = operations[verb];
  if (operation === undefined) throw unknownMethod();
  const { path, query } = splitUrl(request.url ?? '');
  const { isList, rest } = verb === 'GET' || verb === 'LIST' ? extractList(query) : noList(query);
  if (verb === 'HEAD' && path !== healthPath) throw unknownMethod();
  const listed = operation === 'list' || isList;
  return {
    operation: listed ? 'list' : operation,
    path,
    token: tokenOf(request),
    namespace: single(request.headers['x-service-namespace']),
    remoteAddress,
    requestId,
    method: verb === 'LIST' ? 'GET' : verb,
    forwardPath: base + encodePath(path),
    forwardQuery: queryText(listed, rest),
  };
}

const allowed = Object.keys(operations).filter((verb) => verb !== 'HEAD');
const unknownMethod = () => new Problem('method_not_allowed', 'this method is not known here', { allowed });

/** The client's own request id if it is a plain one, else a new one. */
export function requestIdOf(request: IncomingMessage): string {
  const given = single(request.headers['x-request-id']);
  return given !== undefined && /^[A-Za-z0-9._-]{1,128}$/.test(given) ? given : randomUUID();
}

export const addressOf = (request: IncomingMessage, trusted: AddressRanges): string =>
  clientAddress(request.socket.remoteAddress ?? '', single(request.headers['x-forwarded-for']), trusted);

/** The path of a request as it came, for the audit of one that cannot be understood. */
export const rawPath = (request: IncomingMessage): string =>
  (request.url ?? '').split('?', 1)[0]!.slice(0, 1_024);

function splitUrl(url: string): { path: string; query: string } {
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  const query = mark < 0 ? '' : url.slice(mark + 1);
  if (!path.startsWith(base)) throw new Problem('not_found', 'no such path');
  if (path.includes('#') || !/^[\x21\x22\x24-\x7e]*$/.test(query))
    throw invalid('path and query must be percent-encoded');
  return { path: decodePath(path.slice(base.length)), query };
}

const noList = (rest: string) => ({ isList: false, rest });

function queryText(listed: boolean, rest: string): string {
  if (listed) return rest === '' ? '?list=true' : `?list=true&${rest}`;
  return rest === '' ? '' : `?${rest}`;
}

function tokenOf({ headers }: IncomingMessage): string | undefined {
  const own = single(headers['x-service-token']);
  if (own !== undefined) return own;
  return /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
}

const single = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header.join(',') : header;
