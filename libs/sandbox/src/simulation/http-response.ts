/** What a simulated service says back, before it becomes bytes on a socket. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** How one simulated service words the failures that the sandbox can order from it. */
export interface Dialect {
  throttled(retryAfterSeconds: number | undefined): Answer;
  failure(status: number, code: string, message: string): Answer;
  serverError(): Answer;
  signatureRefused(): Answer;
}

/** A JSON answer of the sandbox's own pages and of services that speak plain JSON. */
export function plainJson(status: number, content: unknown, headers: Record<string, string> = {}): Answer {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store', ...headers },
    body: JSON.stringify(content),
  };
}
