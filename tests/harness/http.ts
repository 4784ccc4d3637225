import { request } from 'node:http';
import { request as secureRequest } from 'node:https';

export interface Answer {
  status: number;
  /** The parsed JSON; a string if the body is not JSON, undefined if there is none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests and the demo assert on whatever is returned
  body: any;
}

/** A client of the API for paths below `/v1/`. */
export type Api = (method: string, path: string, body?: unknown) => Promise<Answer>;

const timeoutMs = 30_000;

/** Returns a client that sends `token` with every request; undefined sends none. The verb LIST is sent as it is. */
export function client(baseUrl: string, token: string | undefined): Api {
  const headers = token === undefined ? {} : { 'x-service-token': token };
  return (method, path, body) => send(`${baseUrl}/v1/${path}`, method, { headers, body });
}

/** Sends a request with a body, if any: bytes as they are, anything else as JSON. */
export function send(
  url: string,
  method: string,
  { headers = {}, body }: { headers?: Record<string, string>; body?: unknown } = {},
): Promise<Answer> {
  const text = body === undefined || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  const content =
    text === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
  return new Promise((resolve, reject) => {
    const start = url.startsWith('https:') ? secureRequest : request;
    const sent = start(url, { method, headers: { ...content, ...headers } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('error', reject);
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body: parsed(Buffer.concat(chunks).toString()) }),
      );
    });
    sent.setTimeout(timeoutMs, () => sent.destroy(new Error(`${method} ${url} timed out`)));
    sent.on('error', reject);
    sent.end(text);
  });
}

function parsed(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return text;
  }
}

/** Returns the answer. Throws, with the body, if it has another status. */
export function expectStatus(answer: Answer, status: number): Answer {
  if (answer.status === status) return answer;
  throw new Error(`expected status ${status}, got ${answer.status}: ${JSON.stringify(answer.body)}`);
}
