import { Pool } from 'undici';

/** One request to the product or the sandbox; gives the answer's body, undefined when there is none. */
export type Api = (method: 'GET' | 'POST' | 'PATCH', path: string, body?: unknown) => Promise<unknown>;

/** A client of an API under `/v1`, over kept-alive connections. Throws when an answer is not 2xx. */
export const apiClient = (url: string, token: string): Api =>
  client(`${url}`, '/v1/', { 'x-service-token': token });

/** A client of the sandbox's own paths. */
export const sandboxClient = (url: string): Api => client(url, '/_sandbox/', {});

function client(url: string, base: string, headers: Record<string, string>): Api {
  const pool = new Pool(url, { connections: 32 });
  return async (method, path, body) => {
    const answer = await pool.request({
      method,
      path: base + path,
      headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await answer.body.text();
    if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
}

/** Does something for each of the values, so many at once. */
export async function forEach<T>(
  values: readonly T[],
  atOnce: number,
  work: (value: T) => Promise<unknown>,
): Promise<void> {
  const rest = values.values();
  const worker = async () => {
    for (const value of rest) await work(value);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
