import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import {
  assertionHeader,
  callerTokenHeader,
  type InternalKeys,
  requireSignedBody,
  type VerifiedAssertion,
  verifyAssertion,
} from '@secrets/caller';
import express from 'express';
import type { ReceivedRequest, RequestBody, ServeRequest } from '../endpoint/endpoint-server.ts';
import { splitTarget } from '../endpoint/request-target.ts';
import type { ServiceResponse } from '../endpoint/service-response.ts';

export interface HttpListenerOptions {
  /** The name of this service: the required audience of assertions. */
  service: string;
  keys: InternalKeys;
}

/** Maximum size of a request body in bytes; a larger one gets 413 (docs/conventions/http.md#errors). */
export const maxBodyBytes = 1_048_576;

/** Serves requests over HTTP from callers whose assertion is valid. */
export const httpListener =
  (serve: ServeRequest, options: HttpListenerOptions): RequestListener =>
  (request, response) =>
    void serve(received(request, response, options))
      .then((served) => send(response, served))
      .catch(() => response.destroy());

function received(
  request: IncomingMessage,
  response: ServerResponse,
  { service, keys }: HttpListenerOptions,
): ReceivedRequest {
  const { headers, method = '' } = request;
  const target = splitTarget(request.url ?? '');
  let assertion: VerifiedAssertion | undefined;
  const body = hasBody(request) ? bodyOf(request, response, () => assertion!) : undefined;
  return {
    method,
    ...target,
    callerToken: single(headers[callerTokenHeader]),
    traceparent: single(headers.traceparent),
    untilAbandoned: () => untilAbandoned(response),
    body,
    authenticate: (from) => {
      const line = { from, to: service, method, ...target };
      assertion = verifyAssertion(keys, single(headers[assertionHeader]), line);
      if (body === undefined) requireSignedBody(assertion, undefined);
      return assertion.caller;
    },
  };
}

function untilAbandoned(response: ServerResponse): AbortSignal {
  const abandoned = new AbortController();
  const abort = () => abandoned.abort();
  if (response.destroyed) abort();
  else response.once('close', abort).once('stopping', abort);
  return abandoned.signal;
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

const readBytes = express.raw({ limit: maxBodyBytes, inflate: false, type: () => true });

/** The body, if it is the one that was signed. */
const bodyOf = (
  request: IncomingMessage & { body?: Buffer },
  response: ServerResponse,
  assertion: () => VerifiedAssertion,
): RequestBody => ({
  contentType: request.headers['content-type'],
  read: async () => {
    await new Promise<void>((resolve, reject) => {
      readBytes(request, response, (error?: unknown) => (error === undefined ? resolve() : reject(error)));
    });
    requireSignedBody(assertion(), request.body);
    return request.body!;
  },
});

const single = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header.join(',') : header;

function send(response: ServerResponse, { status, headers, text, eventStream }: ServiceResponse): void {
  if (text !== undefined) headers['content-length'] = String(Buffer.byteLength(text));
  response.writeHead(status, headers);
  if (eventStream === undefined) response.end(text);
  else eventStream(response);
}
