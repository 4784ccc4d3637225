import { request } from 'node:http';
import { request as secureRequest } from 'node:https';

export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the demo looks into whatever came back
  body: any;
}

/** A client of the API: the verb as it is on the wire, `LIST` included when the parser lets it (see `list`). */
export function client(base: string, token: string | undefined) {
  return (method: string, path: string, body?: unknown): Promise<Answer> =>
    send(`${base}/v1/${path}`, method, token, body);
}

/** Any JSON over HTTP. */
export function send(url: string, method: string, token?: string, body?: unknown): Promise<Answer> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const headers = {
    ...(token === undefined ? {} : { 'x-service-token': token }),
    ...(text === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
  };
  return new Promise((resolve, reject) => {
    const go = url.startsWith('https:') ? secureRequest : request;
    const sent = go(url, { method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body: parsed(Buffer.concat(chunks).toString()) }),
      );
    });
    sent.setTimeout(30_000, () => sent.destroy(new Error(`${method} ${url} took too long`)));
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
