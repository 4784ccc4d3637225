import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { eventStreamType, issuedAccessorHeader, issuedTokenHeader, reasonHeader } from '@secrets/http';
import type { Dispatcher } from 'undici';
import { ClientDisconnected } from '../request/read-body.ts';
import { commonHeaders } from '../send-response.ts';

interface IssuedToken {
  token: string;
  accessor: string | undefined;
  /** The accessor of the token in the response for which this token was exchanged. */
  wrappedAccessor?: string | undefined;
}

/** The outcome that a service reported, recorded before the response is passed to the client. */
export interface ServiceOutcome {
  status: number;
  /** Why the service refused the request; null if it did not. */
  reason: string | null;
  /** The token that the response contains, and its accessor. */
  issued: IssuedToken | undefined;
}

/** Responses up to this size are sent in one piece. */
const maxBufferedBytes = 262_144;

/** The response headers of a service that are passed to the client. */
export const passedHeaders = ['content-type', 'retry-after', 'allow'] as const;

/** Maximum time that a client may leave events unread. */
const maxUnreadMs = 15_000;

/**
 * Passes the response of a service to the client: a small one in one piece, a large one and events as a stream, at the
 * pace of the client. If the client disconnects, the request to the service is aborted.
 */
export class RelayedResponse implements Dispatcher.DispatchHandler {
  /**
   * Resolves with the status when the response was sent, or a stream of events has begun; rejects if the service did
   * not respond completely.
   */
  readonly done: Promise<number>;
  readonly #response: ServerResponse;
  readonly #requestId: string;
  readonly #record: (outcome: ServiceOutcome) => Promise<void>;
  readonly #settle: { resolve: (status: number) => void; reject: (error: unknown) => void };
  #controller: Dispatcher.DispatchController | undefined;
  #outcome: ServiceOutcome = { status: 0, reason: null, issued: undefined };
  #headers: string[] = [];
  #chunks: Buffer[] = [];
  #bytes = 0;
  #phase: 'buffering' | 'recording' | 'streaming' | 'refused' = 'buffering';
  #isComplete = false;
  #isEvents = false;

  /** Nothing is sent before `record` has resolved, and nothing at all if it rejects. */
  constructor(
    response: ServerResponse,
    requestId: string,
    record: (outcome: ServiceOutcome) => Promise<void>,
  ) {
    this.#response = response;
    this.#requestId = requestId;
    this.#record = record;
    const { promise, ...settle } = Promise.withResolvers<number>();
    this.done = promise;
    this.#settle = settle;
    response.on('close', () => this.#clientClosed());
  }

  /** Whether the service has begun to respond. */
  get hasBegun(): boolean {
    return this.#outcome.status !== 0;
  }

  /** Refuses the request once the signal is aborted, whose reason is a problem, unless the service has responded by then. */
  refuseOn(signal: AbortSignal): void {
    const refuse = () => this.#refuse(signal.reason);
    if (signal.aborted) refuse();
    else signal.addEventListener('abort', refuse, { once: true });
  }

  /** Once an outcome is recorded, no other one can be sent. */
  #refuse(problem: Error): void {
    if (this.#phase === 'recording') this.#response.destroy();
    if (this.#phase !== 'buffering' || this.#isComplete) return;
    this.#phase = 'refused';
    this.#settle.reject(problem);
    this.#controller?.abort(problem);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#response.destroyed) this.#clientClosed();
    else if (this.#phase === 'refused') controller.abort(new ClientDisconnected());
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (status < 200) return;
    this.#outcome = outcomeOf(status, headers);
    this.#headers = relayedHeaders(this.#requestId, headers);
    this.#isEvents = headers['content-type'] === eventStreamType;
    if (this.#isEvents) this.#beginStreaming(controller);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#phase === 'streaming') this.#pass(controller, chunk);
    else this.#buffer(controller, chunk);
  }

  onResponseEnd(): void {
    this.#isComplete = true;
    if (this.#phase === 'streaming') this.#endStream();
    else if (this.#phase === 'buffering')
      this.#record(this.#outcome)
        .then(() => this.#sendWhole())
        .catch(this.#settle.reject);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    // The recorded outcome must not become another one: a client to which nothing was sent yet gets nothing.
    if (this.#phase === 'recording') this.#response.destroy();
    if (this.#isEvents && this.#phase === 'streaming') this.#response.end();
    this.#settle.reject(this.#phase === 'recording' ? new ClientDisconnected() : error);
  }

  #buffer(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#phase === 'buffering' && this.#bytes > maxBufferedBytes) this.#beginStreaming(controller);
  }

  #sendWhole(): void {
    const { status } = this.#outcome;
    this.#settle.resolve(status);
    if (this.#response.destroyed) return;
    const body = this.#chunks.length === 1 ? this.#chunks[0] : Buffer.concat(this.#chunks);
    if (status !== 204) this.#headers.push('content-length', String(this.#bytes));
    this.#response.writeHead(status, this.#headers);
    // Node.js sends a string body and the headers in one write; latin1 preserves every byte.
    if (body !== undefined) this.#response.end(body.toString('latin1'), 'latin1');
    else this.#response.end();
  }

  /** The service waits while the outcome is recorded, so that a slow audit log does not fill the memory. */
  #beginStreaming(controller: Dispatcher.DispatchController): void {
    this.#phase = 'recording';
    controller.pause();
    const begin = () => {
      if (this.#response.destroyed) return this.#settle.reject(new ClientDisconnected());
      this.#phase = 'streaming';
      this.#response.writeHead(this.#outcome.status, this.#headers);
      if (this.#isEvents) this.#beginEvents();
      this.#pass(controller, Buffer.concat(this.#chunks.splice(0)));
      if (this.#isComplete) this.#endStream();
    };
    const refuse = (error: Error) => {
      this.#phase = 'refused';
      this.#settle.reject(error);
      controller.abort(error);
    };
    this.#record(this.#outcome).then(begin, refuse);
  }

  #pass(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#response.writableEnded) {
      controller.abort(new ClientDisconnected()); // the gateway has ended it
    } else if (this.#response.write(chunk)) {
      controller.resume();
    } else {
      this.#waitForClient(controller);
    }
  }

  #waitForClient(controller: Dispatcher.DispatchController): void {
    controller.pause();
    const timer = this.#isEvents ? setTimeout(() => this.#response.destroy(), maxUnreadMs) : undefined;
    const settled = () => clearTimeout(timer);
    this.#response.once('close', settled);
    this.#response.once('drain', () => {
      settled();
      this.#response.off('close', settled);
      controller.resume();
    });
  }

  /** The response has an outcome, although it continues until the service or the gateway ends it. */
  #beginEvents(): void {
    this.#response.flushHeaders();
    this.#settle.resolve(this.#outcome.status);
  }

  #endStream(): void {
    this.#response.end();
    this.#settle.resolve(this.#outcome.status);
  }

  #clientClosed(): void {
    if (!this.#response.writableEnded || (this.#isEvents && !this.#isComplete))
      this.#controller?.abort(new ClientDisconnected());
  }
}

const decoded = (value: string | string[] | undefined): string | undefined =>
  value === undefined ? undefined : decodeURIComponent(String(value));

/** The headers of the response to the client, as a list of names and values. */
export function relayedHeaders(requestId: string, headers: IncomingHttpHeaders): string[] {
  const relayed = commonHeaders(requestId, headers['cache-control']);
  for (const name of passedHeaders) {
    const value = headers[name];
    if (value !== undefined) relayed.push(name, value);
  }
  return relayed;
}

/** Reads what a service reports for the audit log. */
export function outcomeOf(status: number, headers: IncomingHttpHeaders): ServiceOutcome {
  const token = decoded(headers[issuedTokenHeader]);
  const issued =
    token === undefined ? undefined : { token, accessor: decoded(headers[issuedAccessorHeader]) };
  return { status, reason: decoded(headers[reasonHeader]) ?? null, issued };
}
