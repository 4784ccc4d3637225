import type { Socket } from 'node:net';
import { Fault } from '@secrets/domain';
import { Agent, buildConnector, fetch } from 'undici';
import { connectTarget, type Gate, guardedLookup } from './gate.ts';
import { bodyBytes, readBody } from './response-budget.ts';

/** A `fetch` for provider clients that accept one. `maxBytes` limits the body; default `bodyBytes.description`. */
export type BoundedFetch = (
  input: string | URL | Request,
  init?: RequestInit & { maxBytes?: number },
) => Promise<Response>;

export interface GuardedFetch {
  fetch: BoundedFetch;
  close(): void;
}

/** No compression: RFC 9110, section 12.5.3. */
const identity = 'identity';

/**
 * Returns a `fetch` whose connections go through the gate. It follows no redirects: a client receives them as responses. A body
 * with too many bytes, levels or values, a compressed one and a silent server end the call.
 */
export function guardedFetch(gate: Gate): GuardedFetch {
  const agent = guardedAgent(gate);
  return {
    fetch: (input, init) => through(agent, input, init),
    close: () => void agent.destroy(),
  };
}

/** A `fetch` for documents, of which the caller reads only so much. */
export interface DocumentFetch {
  fetch(
    url: string,
    init: { signal: AbortSignal; method?: string; headers?: Record<string, string>; body?: string },
  ): Promise<Response>;
  close(): void;
}

/**
 * Returns a `fetch` whose connections go through the gate. It follows no redirects, refuses compressed bodies, whose size
 * says nothing about what reading them costs, and does not limit the others.
 * @param ca certificates in PEM that are trusted in place of those of the system
 */
export function guardedDocumentFetch(gate: Gate, ca: string | undefined): DocumentFetch {
  const agent = guardedAgent(gate, ca);
  return {
    fetch: (url, init) => uncompressed(agent, url, init),
    close: () => void agent.destroy(),
  };
}

const guardedAgent = (gate: Gate, ca?: string): Agent =>
  new Agent({
    connections: 64,
    keepAliveTimeout: 60_000,
    headersTimeout: 15_000,
    bodyTimeout: 15_000,
    connect: guardedConnector(gate, ca),
  });

/** Accepts the `Request` objects of Node too, which are not those of this version of undici. */
async function through(
  dispatcher: Agent,
  input: string | URL | Request,
  { maxBytes = bodyBytes.description, ...init }: RequestInit & { maxBytes?: number } = {},
): Promise<Response> {
  const [url, options] =
    input instanceof Request ? [input.url, { ...partsOf(input), ...init }] : [String(input), init];
  return received(await uncompressed(dispatcher, url, options), maxBytes);
}

/**
 * Sends a request for a body that is not compressed, and refuses any other: bytes are counted as received, and a compressed
 * body may become a thousand times as large.
 */
async function uncompressed(
  dispatcher: Agent,
  url: string,
  options: { headers?: RequestInit['headers'] },
): Promise<Response> {
  const headers = [...withoutEncoding(options.headers)] as [string, string][];
  const response = await fetch(url, { ...options, headers, redirect: 'manual', dispatcher });
  if ((response.headers.get('content-encoding') ?? identity) !== identity) {
    await response.body?.cancel();
    throw failed(compressed());
  }
  return response as unknown as Response;
}

/** Returns the response with its whole body. */
async function received(response: Response, maxBytes: number): Promise<Response> {
  const { status, statusText, headers, body: chunks } = response;
  if (status > maxStatus) {
    await chunks?.cancel();
    throw failed(new Fault('unavailable', 'the call: the response cannot be parsed'));
  }
  const body = await readBody({ status, chunks, maxBytes }).catch((error: unknown) => {
    throw error instanceof Fault ? failed(error) : error;
  });
  const isEmpty = body === undefined || body.length === 0 || withoutBody.includes(status);
  const content = isEmpty ? null : new Uint8Array(body);
  return new Response(content, { status, statusText, headers });
}

/** The highest status that a `Response` can have, and those with which it has no body. */
const maxStatus = 599;
const withoutBody: readonly number[] = [204, 205, 304];

/** The form in which `fetch` reports why it has failed. */
const failed = (cause: Fault) => new TypeError('fetch failed', { cause });

function withoutEncoding(given: RequestInit['headers']): Headers {
  const headers = new Headers(given);
  headers.set('accept-encoding', identity);
  return headers;
}

const compressed = () =>
  new Fault('unavailable', 'the service sent a compressed response, which was not requested');

const partsOf = ({ method, headers, body, signal }: Request) => ({
  method,
  headers,
  signal,
  ...(body === null ? {} : { body, duplex: 'half' }),
});

function guardedConnector(gate: Gate, ca: string | undefined): buildConnector.connector {
  return (options, connected) => {
    const target = connectTarget(gate, options.hostname, portOf(options));
    if (target.refusal !== undefined) {
      connected(target.refusal, null);
      return;
    }
    const connect = buildConnector({
      timeout: 5_000,
      rejectUnauthorized: true,
      allowH2: false,
      ...(ca === undefined ? {} : { ca }),
      lookup: guardedLookup(gate, portOf(options)),
    });
    connect(options, connected as (...args: [null, Socket] | [Error, null]) => void);
  };
}

const portOf = ({ port, protocol }: buildConnector.Options): number =>
  Number(port || (protocol === 'https:' ? 443 : 80));
