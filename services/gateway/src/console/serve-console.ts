import type { IncomingMessage, ServerResponse } from 'node:http';
import { operationOf } from '@secrets/http';
import { rawPath, requestIdOf } from '../request/gateway-request.ts';
import { sendJson, sendText } from '../send-response.ts';
import { assetsFolder, type ConsoleFile, type ConsoleFiles, indexPath } from './console-files.ts';
import { chooseCoding } from './content-coding.ts';
import { securityHeaders } from './security-headers.ts';

/** The files, or why there are none: a sentence for whoever opens the console. */
export type Console = ConsoleFiles | string;

/** Responds to a request for the console. Returns false, without a response, if the path is not below `/ui/`. */
export type ServeConsole = (request: IncomingMessage, response: ServerResponse) => boolean;

/** Path of the console. */
export const consolePath = '/ui/';

/**
 * Serves the console below `/ui/`, from memory, without a token and without a request to another service. A path that
 * is not a file starts the application, which decides what to show there. `/` leads to the console if there is one.
 */
export const serveConsole =
  (console: Console): ServeConsole =>
  (request, response) => {
    const path = rawPath(request);
    const leadsThere = path === '/ui' || (path === '/' && typeof console !== 'string');
    if (!leadsThere && !path.startsWith(consolePath)) return false;
    if (!['GET', 'HEAD'].includes(operationOf(request)))
      sendRefusal(request, response, 405, 'unsupported method');
    else if (leadsThere) redirect(request, response);
    else if (typeof console === 'string') sendRefusal(request, response, 404, console);
    else serveFile(console, path.slice(consolePath.length), request, response);
    return true;
  };

function serveFile(
  files: ConsoleFiles,
  name: string,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const file = files.get(name) ?? (name.startsWith(assetsFolder) ? undefined : files.get(indexPath));
  if (file === undefined) sendRefusal(request, response, 404, 'the console has no such file');
  else sendFile(file, request, response);
}

function sendFile(file: ConsoleFile, { headers }: IncomingMessage, response: ServerResponse): void {
  const coding = chooseCoding(headers['accept-encoding']?.toString(), file.bytes);
  const bytes = file.bytes[coding]!;
  const tag = `"${file.hash}-${coding}"`;
  const caching = file.isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache';
  const common = [...securityHeaders, 'etag', tag, 'cache-control', caching, 'vary', 'accept-encoding'];
  if (isCurrent(headers['if-none-match'], tag)) {
    response.writeHead(304, common).end();
    return;
  }
  const coded = coding === 'identity' ? [] : ['content-encoding', coding];
  const length = String(bytes.length);
  response.writeHead(200, [...common, ...coded, 'content-type', file.contentType, 'content-length', length]);
  response.end(bytes);
}

const isCurrent = (known: string | undefined, tag: string): boolean =>
  known?.split(',').some((one) => one.trim().replace(/^W\//, '') === tag) ?? false;

const redirect = (request: IncomingMessage, response: ServerResponse): void =>
  void sendText(response, requestIdOf(request), 302, '', ['location', consolePath, ...securityHeaders]);

function sendRefusal(request: IncomingMessage, response: ServerResponse, status: number, why: string): void {
  const allowed = status === 405 ? ['allow', 'GET, HEAD'] : [];
  sendJson(response, requestIdOf(request), status, { errors: [why] }, [...allowed, ...securityHeaders]);
}
