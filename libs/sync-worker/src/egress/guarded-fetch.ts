import type { Socket } from 'node:net';
import { Fault } from '@secrets/domain';
import { Agent, buildConnector, fetch } from 'undici';
import { withinBudget } from '../responses/response-budget.ts';
import { connectTarget, type Gate, guardedLookup } from './gate.ts';

/** A `fetch` for provider clients that accept one. */
export interface GuardedFetch {
  fetch: typeof globalThis.fetch;
  close(): void;
}

const maxResponseBytes = 1024 * 1024;

/** No compression: RFC 9110, section 12.5.3. */
const identity = 'identity';

/**
 * Returns a `fetch` whose connections go through the gate. It follows no redirects: a client receives them as responses. A body
 * of more than 1 MiB or with too many levels or values, a compressed one and a silent server end the call.
 */
export function guardedFetch(gate: Gate): GuardedFetch {
  const agent = new Agent({
    connections: 64,
    keepAliveTimeout: 60_000,
    headersTimeout: 15_000,
    bodyTimeout: 15_000,
    maxResponseSize: maxResponseBytes,
    connect: guardedConnector(gate),
  });
  return {
    fetch: (input, init) => through(agent, input, init),
    close: () => void agent.destroy(),
  };
}

/**
 * Sends a request for a body that is not compressed, and refuses any other: `maxResponseSize` counts bytes as received, and a
 * compressed body may become a thousand times as large. Accepts the `Request` objects of Node too, which are not those of this
 * version of undici.
 */
async function through(
  dispatcher: Agent,
  input: string | URL | Request,
  init: RequestInit = {},
): Promise<Response> {
  const [url, options] =
    input instanceof Request ? [input.url, { ...partsOf(input), ...init }] : [String(input), init];
  const headers = [...withoutEncoding(options.headers)] as [string, string][];
  const response = await fetch(url, { ...(options as object), headers, redirect: 'manual', dispatcher });
  if ((response.headers.get('content-encoding') ?? identity) !== identity) {
    await response.body?.cancel();
    throw new TypeError('fetch failed', { cause: compressed() });
  }
  return withinBodyBudget(response as unknown as Response);
}

/** Checks the budget of a body before a client parses it. */
async function withinBodyBudget(response: Response): Promise<Response> {
  const { status, headers } = response;
  const bytes = new Uint8Array(await response.clone().arrayBuffer());
  try {
    return withinBudget(status, bytes) === undefined ? new Response(null, { status, headers }) : response;
  } catch (cause) {
    await response.body?.cancel();
    throw new TypeError('fetch failed', { cause });
  }
}

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

function guardedConnector(gate: Gate): buildConnector.connector {
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
      lookup: guardedLookup(gate, portOf(options)),
    });
    connect(options, connected as (...args: [null, Socket] | [Error, null]) => void);
  };
}

const portOf = ({ port, protocol }: buildConnector.Options): number =>
  Number(port || (protocol === 'https:' ? 443 : 80));
