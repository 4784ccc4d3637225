import { readFileSync } from 'node:fs';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** The content of a response of the API. */
interface Answer<Data> {
  data: Data;
  warnings: string[];
}

/** Calls the API. Paths begin after `/v1/`. */
export interface Api {
  /** @throws {Refused} or {Unreachable} */
  call<Data>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<Answer<Data>>;
}

/** The service has refused a request: its status, and the sentences of its response. */
export class Refused extends Error {
  readonly status: number;

  constructor(status: number, path: string, sentences: readonly string[]) {
    const place = path.split('?', 1)[0];
    super(sentences.join('; ') || (status === 404 ? `there is no ${place}` : `${place}: status ${status}`));
    this.status = status;
  }
}

/** The service did not respond, or what responded is not this service. */
export class Unreachable extends Error {}

type Environment = Readonly<Record<string, string | undefined>>;

/** Where the service is, and as whom to call it. */
interface Connection {
  url: string;
  token: string;
  namespace: string | undefined;
  ca: Buffer | undefined;
}

const maxAnswerBytes = 67_108_864;
const timeoutMs = 90_000;

/**
 * Reads the variables that the command lines of Vault and OpenBao read; without a token among them, the file that their `login`
 * writes.
 * @throws with what to set, if there is no token
 */
export function connectionFrom(env: Environment): Connection {
  const variable = (name: string) => env[`VAULT_${name}`] || env[`BAO_${name}`] || undefined;
  const ca = variable('CACERT');
  return {
    url: (variable('ADDR') ?? 'http://127.0.0.1:8200').replace(/\/+$/, ''),
    token: variable('TOKEN') ?? tokenOfFile(env),
    namespace: variable('NAMESPACE'),
    ca: ca === undefined ? undefined : readFileSync(ca),
  };
}

function tokenOfFile({ HOME = homedir() }: Environment): string {
  try {
    return readFileSync(join(HOME, '.vault-token'), 'utf8').trim();
  } catch {
    throw new Error('there is no token: set VAULT_TOKEN, or log in with `bao login` or `vault login`');
  }
}

export function openApi({ url, token, namespace, ca }: Connection): Api {
  const send = url.startsWith('https:') ? requestHttps : requestHttp;
  const headers = {
    'x-vault-token': token,
    'content-type': 'application/json',
    ...(namespace === undefined ? {} : { 'x-vault-namespace': namespace }),
  };
  const exchange = (method: string, path: string, body?: object) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const request = send(`${url}/v1/${path}`, { method, headers, ca, timeout: timeoutMs }, (response) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > maxAnswerBytes) request.destroy(new Error('the response is too large'));
          chunks.push(chunk);
        });
        response.on('end', () =>
          resolve({ status: response.statusCode!, text: Buffer.concat(chunks).toString() }),
        );
        response.on('error', reject);
      });
      request.on('timeout', () => request.destroy(new Error(`no response within ${timeoutMs / 1_000} s`)));
      request.on('error', reject);
      request.end(body === undefined ? undefined : JSON.stringify(body));
    }).catch((cause: Error) => {
      throw new Unreachable(`${url}: ${cause.message || String(cause)}`, { cause });
    });
  return {
    call: async <Data>(method: string, path: string, body?: object) => {
      const { status, text } = await exchange(method, path, body);
      const answer = parsed(text);
      if (status >= 300) throw new Refused(status, path, answer?.errors ?? []);
      if (answer === undefined && status !== 204)
        throw new Unreachable(`${url}: the response is not one of this service`);
      return { data: (answer?.data ?? {}) as Data, warnings: answer?.warnings ?? [] };
    },
  };
}

function parsed(text: string): { data?: unknown; errors?: string[]; warnings?: string[] | null } | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
