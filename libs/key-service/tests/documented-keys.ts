import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The behaviour of a key service for the next requests. */
export type Condition = 'works' | 'disabled' | 'denied' | 'throttled' | 'failing' | 'hanging' | 'unknown key';

/** A response as the documentation of a provider describes it. */
export interface Answer {
  status: number;
  body: object;
  headers?: Record<string, string>;
}

export interface Received {
  request: IncomingMessage;
  body: Record<string, unknown>;
  condition: Condition;
}

/** A server with the documented responses of a key service. Its keys are in memory. */
export interface DocumentedServer {
  url: string;
  /** Applies to this many requests, after which the service works again. */
  become(condition: Condition, requests?: number): void;
  /** The number of requests about keys. */
  requests(): number;
  stop(): Promise<void>;
}

/** Starts a server. No condition applies to requests that are `isAside`, such as those for tokens, and none is counted. */
export async function startDocumented(
  answer: (received: Received) => Answer | Promise<Answer>,
  isAside: (request: IncomingMessage) => boolean = () => false,
): Promise<DocumentedServer> {
  let [condition, left, count]: [Condition, number, number] = ['works', 0, 0];
  const server = createServer((request, response) => void handle(request, response));
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const text = (await request.toArray()).join('');
    const isKey = !isAside(request);
    const now = isKey && left > 0 ? condition : 'works';
    if (isKey) [left, count] = [left - 1, count + 1];
    if (now === 'hanging') return;
    const body = text.startsWith('{') ? JSON.parse(text) : {};
    const { status, body: answered, headers } = await answer({ request, body, condition: now });
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(answered));
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    become: (next, requests = Number.POSITIVE_INFINITY) => {
      [condition, left] = [next, requests];
    },
    requests: () => count,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const keyOf = (name: string): Buffer => createHash('sha256').update(`key ${name}`).digest();

/** Encrypts as a symmetric key of this name does. */
export function encryptedWith(name: string, aad: string, plain: Buffer): Buffer {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', keyOf(name), nonce);
  cipher.setAAD(Buffer.from(aad));
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** Decrypts what `encryptedWith` returned; undefined for another key, other data or an altered ciphertext. */
export function decryptedWith(name: string, aad: string, ciphertext: Buffer): Buffer | undefined {
  const decipher = createDecipheriv('aes-256-gcm', keyOf(name), ciphertext.subarray(0, 12));
  decipher.setAAD(Buffer.from(aad));
  decipher.setAuthTag(ciphertext.subarray(-16));
  try {
    return Buffer.concat([decipher.update(ciphertext.subarray(12, -16)), decipher.final()]);
  } catch {
    return undefined;
  }
}
