import type { IncomingMessage, ServerResponse } from 'node:http';

/** Answers one request. */
export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export const tokenReview = { kind: 'TokenReview', apiVersion: 'authentication.k8s.io/v1' };

export const send = (response: ServerResponse, status: number, body: object): void =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

/** The form in which an API server refuses a request. */
export const sendStatus = (response: ServerResponse, code: number): void =>
  send(response, code, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code });

/** Answers a review with this status. */
export const reviewed =
  (status: object): Answer =>
  (_request, response) =>
    send(response, 201, { ...tokenReview, status });

/** Answers with a status of HTTP, as a failing API server does. */
export const failing =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (_request, response) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    sendStatus(response, code);
  };
