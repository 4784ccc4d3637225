import { Pool } from 'undici';

/** Sends a request to the product or the sandbox. Returns the parsed body of the response, or undefined without one. */
export type Api = (
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  body?: unknown,
) => Promise<unknown>;

/** Returns a client of the product's API, with keep-alive connections. It throws if a response is not 2xx. */
export const apiClient = (url: string, token: string, namespace = ''): Api =>
  client(url, '/v1/', { 'x-service-token': token, 'x-service-namespace': namespace });

/** Returns a client of a server with the API of Vault. An empty token is not sent. */
export const vaultClient = (url: string, token: string): Api =>
  client(url, '/v1/', token === '' ? {} : { 'x-vault-token': token });

/** Returns a client of the sandbox's control API. */
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

/** Calls `work` for each value, with at most `concurrency` calls at once. */
export async function forEach<T>(
  values: readonly T[],
  concurrency: number,
  work: (value: T) => Promise<unknown>,
): Promise<void> {
  const rest = values.values();
  const worker = async () => {
    for (const value of rest) await work(value);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}
