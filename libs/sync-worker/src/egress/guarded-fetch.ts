import type { Socket } from 'node:net';
import { Agent, buildConnector, fetch } from 'undici';
import { checkedTarget, type Gate, guardedLookup } from './gate.ts';

/** A `fetch` for the providers' clients that take one. */
export interface GuardedFetch {
  fetch: typeof globalThis.fetch;
  /** Closes every socket. */
  close(): void;
}

const maxResponseBytes = 1024 * 1024;

/**
 * Returns a `fetch` whose connections go through the gate. It follows no redirects: a client receives them as responses. A body of more than
 * 1 MiB and a silent server end the call.
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

/** Accepts the `Request` objects of Node too, which are not those of this version of undici. */
function through(
  dispatcher: Agent,
  input: string | URL | Request,
  init: RequestInit = {},
): Promise<Response> {
  const [url, options] =
    input instanceof Request ? [input.url, { ...partsOf(input), ...init }] : [String(input), init];
  const request = fetch(url, { ...(options as object), redirect: 'manual', dispatcher });
  return request as Promise<unknown> as Promise<Response>;
}

const partsOf = ({ method, headers, body, signal }: Request) => ({
  method,
  headers,
  signal,
  ...(body === null ? {} : { body, duplex: 'half' }),
});

function guardedConnector(gate: Gate): buildConnector.connector {
  return (options, connected) => {
    const target = checkedTarget(gate, options.hostname, portOf(options));
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
