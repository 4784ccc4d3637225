import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Dispatcher } from 'undici';
import { ClientDisconnected } from '../request/read-body.ts';

/** Responses up to this size are sent in one piece. */
const maxBufferedBytes = 262_144;

/** The response headers of a service that are passed to the client. */
export const passedHeaders = ['content-type', 'retry-after', 'allow'] as const;

/**
 * Passes the response of a service to the client: a small one in one piece, a large one as a stream, at the pace of the
 * client. If the client disconnects, the request to the service is aborted.
 */
export class RelayedResponse implements Dispatcher.DispatchHandler {
  /** Resolves with the status when the response was sent; rejects if the service did not respond completely. */
  readonly done: Promise<number>;
  readonly #response: ServerResponse;
  readonly #requestId: string;
  readonly #settle: { resolve: (status: number) => void; reject: (error: unknown) => void };
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: string[] = [];
  #chunks: Buffer[] = [];
  #bytes = 0;
  #isStreaming = false;

  constructor(response: ServerResponse, requestId: string) {
    this.#response = response;
    this.#requestId = requestId;
    const { promise, ...settle } = Promise.withResolvers<number>();
    this.done = promise;
    this.#settle = settle;
    response.on('close', () => this.#clientClosed());
  }

  /** Whether the service has begun to respond. */
  get hasBegun(): boolean {
    return this.#status !== 0;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#response.destroyed) this.#clientClosed();
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (status < 200) return;
    this.#status = status;
    this.#headers = [
      'x-request-id',
      this.#requestId,
      'cache-control',
      headers['cache-control'] ?? 'no-store',
    ];
    for (const name of passedHeaders) {
      const value = headers[name];
      if (value !== undefined) this.#headers.push(name, value);
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isStreaming) this.#pass(controller, chunk);
    else this.#buffer(controller, chunk);
  }

  onResponseEnd(): void {
    if (this.#isStreaming) this.#response.end();
    else this.#sendWhole();
    this.#settle.resolve(this.#status);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#settle.reject(error);
  }

  #buffer(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > maxBufferedBytes) this.#beginStreaming(controller);
  }

  #sendWhole(): void {
    if (this.#response.destroyed) return;
    const body = this.#chunks.length === 1 ? this.#chunks[0] : Buffer.concat(this.#chunks);
    if (this.#status !== 204) this.#headers.push('content-length', String(this.#bytes));
    this.#response.writeHead(this.#status, this.#headers);
    // Node.js sends a string body and the headers in one write; latin1 preserves every byte.
    if (body !== undefined) this.#response.end(body.toString('latin1'), 'latin1');
    else this.#response.end();
  }

  #beginStreaming(controller: Dispatcher.DispatchController): void {
    this.#isStreaming = true;
    this.#response.writeHead(this.#status, this.#headers);
    this.#pass(controller, Buffer.concat(this.#chunks));
    this.#chunks = [];
  }

  #pass(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#response.write(chunk)) return;
    controller.pause();
    this.#response.once('drain', () => controller.resume());
  }

  #clientClosed(): void {
    if (!this.#response.writableEnded) this.#controller?.abort(new ClientDisconnected());
  }
}
