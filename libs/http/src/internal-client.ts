import { assertionHeader, type Caller, type InternalKeys, signAssertion } from '@secrets/caller';
import { Problem, type ProblemKind, parsedJson } from '@secrets/domain';
import { traceparent } from '@secrets/telemetry';
import { splitTarget } from './endpoint/request-target.ts';
import { httpStatus } from './problem/problem-status.ts';
import { openReplicaPool } from './replicas.ts';
import type { InternalTls } from './tls/internal-tls.ts';

/** Calls another service. */
export interface InternalClient {
  /**
   * Sends one request. Returns `data` of the envelope, or undefined for 204.
   * @throws the problem that the service responded with; `unavailable` if it did not respond
   */
  call(method: 'GET' | 'POST' | 'DELETE', path: string, caller: Caller, body?: unknown): Promise<unknown>;
  close(): Promise<void>;
}

export interface InternalClientOptions {
  from: string;
  to: string;
  /** Base URL of the other service, or of its replicas, separated by commas. */
  url: string;
  keys: InternalKeys;
  /** Undefined for connections without TLS, or with that of a proxy before the service. */
  tls?: InternalTls | undefined;
  /** Timeout of the headers, and of each pause in the body. Default 10,000. */
  timeoutMs?: number;
}

/** Opens keep-alive connections to a service. Each request carries an assertion signed for that request only. */
export function internalClient({
  from,
  to,
  url,
  keys,
  tls,
  timeoutMs = 10_000,
}: InternalClientOptions): InternalClient {
  const pool = openReplicaPool(url, {
    ...{ connections: 32, timeoutMs },
    secure: tls && { tls, service: to },
  });
  return {
    call: async (method, path, caller, content) => {
      const body = content === undefined ? undefined : JSON.stringify(content);
      const asserted = { from, to, method, ...splitTarget(path), body };
      const trace = traceparent();
      const headers = {
        [assertionHeader]: signAssertion(keys, asserted, caller),
        'content-type': 'application/json',
        ...(trace === undefined ? {} : { traceparent: trace }),
      };
      const sent = pool.request({ method, path, headers, body: body ?? null });
      const response = await sent.catch((cause: unknown) => {
        throw new Problem('unavailable', `${to} is unavailable`, { cause });
      });
      return dataOf(response.statusCode, await response.body.text(), to);
    },
    close: () => pool.close(),
  };
}

function dataOf(status: number, text: string, to: string): unknown {
  if (status === 204) return undefined;
  const body = (parsedJson(text) ?? {}) as { data?: unknown; errors?: string[] };
  if (status < 300) return body.data;
  const kind = kindOf(status);
  if (kind === undefined) throw new Problem('bad_gateway', `${to} failed`);
  throw new Problem(kind, body.errors?.[0] ?? '', { also: body.errors?.slice(1) ?? [] });
}

const kindOf = (status: number) =>
  (Object.keys(httpStatus) as ProblemKind[]).find((kind) => httpStatus[kind] === status);
