import type { Response } from 'express';

/** A complete response of a simulated service, before it is written to the socket. */
export interface HttpResponse {
  status: number;
  headers: Record<string, string>;
  body: string;
  /** The connection ends after half of the length that the headers state. */
  isCutOff?: true;
}

/** The responses of one protocol to failures, its own ones and those that the sandbox can inject. */
export interface ErrorResponses {
  /** To an error that the service reports; undefined for any other error, which is a defect of the sandbox. */
  own?(error: unknown): HttpResponse | undefined;
  throttled(retryAfterSeconds: number | undefined): HttpResponse;
  error(status: number, code: string, message: string): HttpResponse;
  serverError(): HttpResponse;
  invalidSignature(): HttpResponse;
}

/** A JSON response of the control API, or of a simulated service that uses plain JSON. */
export function jsonResponse(
  status: number,
  content: unknown,
  headers: Record<string, string> = {},
): HttpResponse {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store', ...headers },
    body: JSON.stringify(content),
  };
}

/** The `Retry-After` header, where a fault sets one. */
export function retryAfter(seconds: number | undefined): Record<string, string> {
  return seconds === undefined ? {} : { 'retry-after': String(seconds) };
}

/** Writes a response. Does nothing if the client has disconnected. */
export function sendResponse(response: Response, { status, headers, body, isCutOff }: HttpResponse): void {
  if (response.destroyed) return;
  const sent = Buffer.byteLength(body);
  response.writeHead(status, { ...headers, 'content-length': isCutOff ? 2 * sent : sent });
  if (isCutOff) response.write(body, () => response.destroy());
  else response.end(body);
}
